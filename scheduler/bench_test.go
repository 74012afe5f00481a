package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/scheduler"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
)

// BenchmarkThroughAPI measures how fast a backlog of b.N pods gets nodes, of
// which there are 5000: bindings, events and watch events included. The API
// server is in the same process and takes its share of the processors.
func BenchmarkThroughAPI(b *testing.B) {
	const nodes = 5000
	s, err := sandbox.Start(b.Context(), sandbox.Config{
		APIOnly: true, Logger: slog.New(slog.DiscardHandler),
		DisableAdmissionPlugins: []string{"ServiceAccount", "TaintNodesByCondition"},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	for i := range nodes {
		node := frameworktest.Node(b, fmt.Sprintf("{metadata: {name: node-%d, labels: {topology.kubernetes.io/zone: zone-%d}}, status: {allocatable: {cpu: 32, memory: 128Gi}}}", i, i%3))
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range b.N {
		pod := frameworktest.Pod(b, fmt.Sprintf("{metadata: {name: pod-%d}, spec: {containers: [{name: c, image: nginx, resources: {requests: {cpu: 100m, memory: 100Mi}}}]}}", i))
		pod.UID = ""
		if _, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	unassigned := fields.OneTermEqualSelector("spec.nodeName", "").String()
	watch, err := client.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{FieldSelector: unassigned, ResourceVersion: "0"})
	if err != nil {
		b.Fatal(err)
	}
	defer watch.Stop()

	b.ResetTimer()
	before := cpu(b)
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() {
		ended <- scheduler.Run(ctx, scheduler.Config{RESTConfig: s.RESTConfig(), Seed: 1, Logger: slog.New(slog.DiscardHandler)})
	}()
	for bound := 0; bound < b.N; {
		event, open := <-watch.ResultChan()
		if !open {
			b.Fatal("the watch was cut off")
		}
		if _, ok := event.Object.(*v1.Pod); ok && event.Type == "DELETED" { // left the selection
			bound++
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/pod")
	b.StopTimer()
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}
