package volumerestrictions_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/volumerestrictions"
)

func plugin(t *testing.T) volumerestrictions.Plugin {
	claims := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for name, mode := range map[string]v1.PersistentVolumeAccessMode{"single": v1.ReadWriteOncePod, "shared": v1.ReadWriteMany} {
		claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		claim.Spec.AccessModes = []v1.PersistentVolumeAccessMode{mode}
		if err := claims.Add(claim); err != nil {
			t.Fatal(err)
		}
	}
	return volumerestrictions.Plugin{Claims: corelisters.NewPersistentVolumeClaimLister(claims)}
}

func with(name, volume string) string {
	return "{metadata: {name: " + name + "}, spec: {volumes: [{name: v, " + volume + "}]}}"
}

func TestFilter(t *testing.T) {
	const (
		disk     = "gcePersistentDisk: {pdName: d}"
		readOnly = "gcePersistentDisk: {pdName: d, readOnly: true}"
		single   = "persistentVolumeClaim: {claimName: single}"
		shared   = "persistentVolumeClaim: {claimName: shared}"
	)
	const diskTaken = "node(s) had no available disk"
	const claimTaken = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
	for name, test := range map[string]struct {
		there, pod string
		want       [2]string // on the node of the other pod, on another node
	}{
		"no volume":           {disk, "emptyDir: {}", [2]string{}},
		"the same disk":       {disk, disk, [2]string{diskTaken, ""}},
		"both read it":        {readOnly, readOnly, [2]string{}},
		"one writes":          {readOnly, disk, [2]string{diskTaken, ""}},
		"another disk":        {disk, "gcePersistentDisk: {pdName: e}", [2]string{}},
		"a claim for one pod": {single, single, [2]string{claimTaken, claimTaken}},
		"a claim for all":     {shared, shared, [2]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			other := frameworktest.Placed(t, with("other", test.there))
			snapshot := framework.NewSnapshot(frameworktest.NodeInfo(t, "metadata: {name: node-1}", other), frameworktest.NodeInfo(t, "metadata: {name: node-2}"))
			filter, _ := plugin(t).PreFilter(frameworktest.Pending(t, with("pod", test.pod)), snapshot)
			for i, node := range snapshot.Nodes {
				if filter == nil {
					continue
				}
				if got := filter.Filter(node).Message(); got != test.want[i] {
					t.Errorf("%s: got %q, want %q", node.Name(), got, test.want[i])
				}
			}
			if filter == nil && test.want != [2]string{} {
				t.Errorf("no filter, want %q", test.want)
			}
		})
	}
}

func TestEvictionFreesTheClaim(t *testing.T) {
	other := frameworktest.Placed(t, with("other", "persistentVolumeClaim: {claimName: single}"))
	snapshot := framework.NewSnapshot(frameworktest.NodeInfo(t, "metadata: {name: node-1}", other))
	filter, _ := plugin(t).PreFilter(frameworktest.Pending(t, with("pod", "persistentVolumeClaim: {claimName: single}")), snapshot)
	thought := filter.(framework.ClusterFilter).Clone()
	thought.RemovePod(other, snapshot.Nodes[0])
	if !thought.Filter(snapshot.Nodes[0]).OK() {
		t.Error("the pod that was taken off still counts")
	}
	if filter.Filter(snapshot.Nodes[0]).OK() {
		t.Error("the thought changed the original")
	}
}
