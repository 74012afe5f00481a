package imagelocality_test

import (
	"slices"
	"testing"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/imagelocality"
)

func TestImages(t *testing.T) {
	pod := frameworktest.Pod(t, `spec: {initContainers: [{image: busybox}], containers: [{image: "localhost:5000/a/b"}, {image: "nginx:1.27"}]}`)
	want := []string{"busybox:latest", "localhost:5000/a/b:latest", "nginx:1.27"}
	if got := imagelocality.Images(pod); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestScore(t *testing.T) {
	const mb = 1024 * 1024
	for _, test := range []struct{ mbytes, containers, want int64 }{
		{0, 1, 0}, {23, 1, 0}, {1000, 1, 100}, {5000, 1, 100}, {1000, 2, 49},
	} {
		if got := imagelocality.Score(test.mbytes*mb, test.containers); got != test.want {
			t.Errorf("%d MB for %d containers: got %d, want %d", test.mbytes, test.containers, got, test.want)
		}
	}
}

func TestAnImageOnFewNodesCountsLess(t *testing.T) {
	const images = "status: {images: [{names: ['nginx:1.27'], sizeBytes: 1048576000}]}"
	pod := frameworktest.Pending(t, "spec: {containers: [{image: 'nginx:1.27'}]}")
	with := frameworktest.NodeInfo(t, "{metadata: {name: with}, "+images+"}")
	snapshot := framework.NewSnapshot(with, frameworktest.NodeInfo(t, "metadata: {name: without}"))
	scorer := imagelocality.Plugin{}.PreScore(pod, snapshot, nil)
	if got := scorer.Score(with); got != 48 { // 500 of 23 to 1000 MB
		t.Errorf("got %d, want 48", got)
	}
	if got := scorer.Score(snapshot.Node("without")); got != 0 {
		t.Errorf("got %d, want 0", got)
	}
}
