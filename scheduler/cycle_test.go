package scheduler

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace/noop"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
)

// idle returns a scheduler without an API server. Nothing runs but what a test calls.
func idle(tb testing.TB, config Config) *scheduler {
	tb.Helper()
	config.RESTConfig = &rest.Config{Host: "127.0.0.1:0"}
	if err := config.validate(); err != nil {
		tb.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config.RESTConfig)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := newScheduler(config, client, informers.NewSharedInformerFactory(client, 0))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// place makes one attempt and counts the pod on its node.
func place(tb testing.TB, s *scheduler, pod *framework.PodInfo) (string, *framework.Diagnosis) {
	tb.Helper()
	place, diagnosis, err := s.schedule(context.Background(), noop.Span{}, pod)
	if err != nil {
		tb.Fatal(err)
	}
	if diagnosis == nil {
		if err := s.cache.Assume(pod.OnNode(place.node)); err != nil {
			tb.Fatal(err)
		}
	}
	return place.node, diagnosis
}

func TestPodsSpreadOverNodes(t *testing.T) {
	s := idle(t, Config{Seed: 1})
	for i := range 4 {
		s.cache.SetNode(frameworktest.Node(t, fmt.Sprintf("metadata: {name: node-%d}", i)))
	}
	count := map[string]int{}
	for i := range 16 {
		node, diagnosis := place(t, s, frameworktest.Pending(t,
			fmt.Sprintf("{metadata: {name: pod-%d}, spec: {containers: [{resources: {requests: {cpu: 1}}}]}}", i)))
		if diagnosis != nil {
			t.Fatalf("pod %d: %s", i, diagnosis.Message())
		}
		count[node]++
	}
	for node, n := range count {
		if n != 4 {
			t.Errorf("%d pods on %s, want 4", n, node)
		}
	}
	_, diagnosis := place(t, s, frameworktest.Pending(t, "{metadata: {name: late}, spec: {containers: [{resources: {requests: {cpu: 1}}}]}}"))
	if diagnosis == nil {
		t.Fatal("a full cluster took a pod")
	}
	want := "0/4 nodes are available: 4 Insufficient cpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod."
	if got := diagnosis.Message(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSeedDecidesTies(t *testing.T) {
	nodes := func(seed uint64) (chosen string) {
		s := idle(t, Config{Seed: seed})
		for i := range 10 {
			s.cache.SetNode(frameworktest.Node(t, fmt.Sprintf("metadata: {name: node-%d}", i)))
		}
		for i := range 5 {
			node, _ := place(t, s, frameworktest.Pending(t, fmt.Sprintf("metadata: {name: pod-%d}", i)))
			chosen += node + " "
		}
		return chosen
	}
	if nodes(1) != nodes(1) {
		t.Error("the same seed gave other nodes")
	}
	if nodes(1) == nodes(2) && nodes(2) == nodes(3) {
		t.Error("the seed does not matter")
	}
}

func TestNamedNodeOfDaemonSetPod(t *testing.T) {
	s := idle(t, Config{})
	for i := range 3 {
		s.cache.SetNode(frameworktest.Node(t, fmt.Sprintf("{metadata: {name: node-%d}, status: {allocatable: {cpu: %d}}}", i, 4*(i%2))))
	}
	named := func(node string) *framework.PodInfo {
		return frameworktest.Pending(t, `{metadata: {name: `+node+`}, spec: {containers: [{resources: {requests: {cpu: 1}}}], affinity: {nodeAffinity: {
			requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [`+node+`]}]}]}}}}}`)
	}
	if node, diagnosis := place(t, s, named("node-1")); diagnosis != nil || node != "node-1" {
		t.Errorf("got %q, want node-1", node)
	}
	_, diagnosis := place(t, s, named("node-2"))
	want := "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. " +
		"preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
	if got := diagnosis.Message(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEnough(t *testing.T) {
	for _, test := range []struct{ percentage, nodes, want int }{
		{0, 50, 50}, {0, 99, 99}, {0, 100, 100}, {0, 1000, 420}, {0, 5000, 500}, {0, 10000, 500},
		{10, 5000, 500}, {100, 5000, 5000}, {1, 5000, 100},
	} {
		if got := enough(test.nodes, test.percentage); got != test.want {
			t.Errorf("%d %% of %d nodes: got %d, want %d", test.percentage, test.nodes, got, test.want)
		}
	}
}

func TestNodeUpdate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1.Node)
		want   framework.Event
	}{
		"a heartbeat": {func(n *v1.Node) { n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady}} }, 0},
		"a label":     {func(n *v1.Node) { n.Labels = map[string]string{"a": "b"} }, framework.NodeLabelUpdate},
		"a cordon":    {func(n *v1.Node) { n.Spec.Unschedulable = true }, framework.NodeTaintUpdate},
		"a taint":     {func(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: "a"}} }, framework.NodeTaintUpdate},
		"room":        {func(n *v1.Node) { n.Status.Allocatable = nil }, framework.NodeAllocatableUpdate},
	} {
		t.Run(name, func(t *testing.T) {
			old := frameworktest.Node(t, "{}")
			new := old.DeepCopy()
			test.change(new)
			if got := nodeUpdate(old, new); got != test.want {
				t.Errorf("got %b, want %b", got, test.want)
			}
		})
	}
}

// BenchmarkCycle measures the scheduling cycle alone, on 5000 nodes: pods of
// one template, pods that all differ, and pods with anti-affinity.
func BenchmarkCycle(b *testing.B) {
	const nodes, kept = 5000, 20000
	for name, manifest := range map[string]func(i int) string{
		"alike": func(i int) string {
			return fmt.Sprintf("{metadata: {name: pod-%d}, spec: {containers: [{resources: {requests: {cpu: 100m, memory: 100Mi}}}]}}", i)
		},
		"different": func(i int) string {
			return fmt.Sprintf("{metadata: {name: pod-%d}, spec: {containers: [{resources: {requests: {cpu: 100m, memory: %d}}}]}}", i, 1e8+i)
		},
		"spread": func(i int) string {
			return fmt.Sprintf(`{metadata: {name: pod-%d, labels: {app: web}}, spec: {containers: [{resources: {requests: {cpu: 100m, memory: 100Mi}}}],
				topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]}}`, i)
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := idle(b, Config{Seed: 1})
			for i := range nodes {
				s.cache.SetNode(frameworktest.Node(b, fmt.Sprintf(
					"{metadata: {name: node-%d, labels: {topology.kubernetes.io/zone: zone-%d}}, status: {allocatable: {cpu: 32, memory: 128Gi}}}", i, i%3)))
			}
			infos := make([]*framework.PodInfo, min(b.N, kept))
			for i := range infos {
				infos[i] = frameworktest.Pending(b, manifest(i))
			}
			took := make([]time.Duration, b.N)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				begun := time.Now()
				pod := infos[i%len(infos)]
				if i >= kept { // the oldest makes room
					s.cache.RemovePod(pod.Pod.UID)
				}
				if _, diagnosis := place(b, s, pod); diagnosis != nil {
					b.Fatal(diagnosis.Message())
				}
				took[i] = time.Since(begun)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}
