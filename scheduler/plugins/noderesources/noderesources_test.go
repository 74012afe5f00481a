package noderesources_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/noderesources"
)

func requesting(resources string) string {
	return "spec: {containers: [{resources: {requests: {" + resources + "}}}]}"
}

func TestFits(t *testing.T) {
	node := frameworktest.NodeInfo(t, "status: {allocatable: {pods: 2, example.com/gpu: 1}}",
		frameworktest.Placed(t, requesting("cpu: 3, memory: 8Gi")))
	for name, test := range map[string]struct {
		requests string
		want     []string
		hopeless bool
	}{
		"nothing, though memory is full": {"", nil, false},
		"what is left":                   {"cpu: 1, example.com/gpu: 1", nil, false},
		"a bit more":                     {"cpu: 1001m", []string{"Insufficient cpu"}, false},
		"more than there is":             {"cpu: 5", []string{"Insufficient cpu"}, true},
		"several": {"cpu: 2, memory: 1, example.com/gpu: 2",
			[]string{"Insufficient cpu", "Insufficient memory", "Insufficient example.com/gpu"}, true},
		"what no node has": {"example.com/tpu: 1", []string{"Insufficient example.com/tpu"}, true},
		"none of it":       {"example.com/tpu: 0", nil, false},
		"scratch space":    {"ephemeral-storage: 1", []string{"Insufficient ephemeral-storage"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			pod := frameworktest.Pending(t, requesting(test.requests))
			filter, _ := noderesources.Fit{}.PreFilter(pod, nil)
			status := filter.Filter(node)
			if status.OK() != (test.want == nil) {
				t.Fatalf("got %+v, want %v", status, test.want)
			}
			if status.OK() {
				return
			}
			if !slices.Equal(status.Reasons, test.want) {
				t.Errorf("got %q, want %q", status.Reasons, test.want)
			}
			if got := status.Code == framework.UnschedulableAndUnresolvable; got != test.hopeless {
				t.Errorf("hopeless: got %v, want %v", got, test.hopeless)
			}
		})
	}
}

func TestTooManyPods(t *testing.T) {
	node := frameworktest.NodeInfo(t, "status: {allocatable: {pods: 1}}", frameworktest.Placed(t, "{}"))
	shortages := noderesources.Fits(&framework.Resource{}, node)
	if len(shortages) != 1 || shortages[0].Reason() != "Too many pods" || shortages[0].Hopeless() {
		t.Errorf("got %+v", shortages)
	}
}

func TestScore(t *testing.T) {
	shape := []noderesources.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}
	for name, test := range map[string]struct {
		strategy  noderesources.Strategy
		pod, used string
		want      int64
	}{
		// (4000-1000)/4000 = 75 %, (8-2)/8 = 75 %
		"least allocated": {noderesources.Strategy{}, "cpu: 1, memory: 2Gi", "", 75},
		"beside others":   {noderesources.Strategy{}, "cpu: 1, memory: 2Gi", "cpu: 1, memory: 2Gi", 50},
		// cpu (4000-100)/4000 = 97, memory (8192-200)/8192 = 97
		"without requests": {noderesources.Strategy{}, "", "", 97},
		"overfull":         {noderesources.Strategy{}, "cpu: 4, memory: 8Gi", "cpu: 1, memory: 1Gi", 0},
		"most allocated":   {noderesources.Strategy{Type: noderesources.MostAllocated}, "cpu: 1, memory: 2Gi", "cpu: 1, memory: 2Gi", 50},
		"by weight": {noderesources.Strategy{Resources: []noderesources.WeightedResource{{Name: v1.ResourceCPU, Weight: 3}, {Name: v1.ResourceMemory, Weight: 1}}},
			"cpu: 4, memory: 0", "", 25},
		"by shape": {noderesources.Strategy{Type: noderesources.RequestedToCapacityRatio, Shape: shape}, "cpu: 1, memory: 2Gi", "", 25},
	} {
		t.Run(name, func(t *testing.T) {
			pod := frameworktest.Pending(t, requesting(test.pod))
			var others []*framework.PodInfo
			if test.used != "" {
				others = append(others, frameworktest.Placed(t, requesting(test.used)))
			}
			if got := noderesources.Score(test.strategy, pod, frameworktest.NodeInfo(t, "{}", others...)); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestBalance(t *testing.T) {
	for _, test := range []struct {
		fractions []float64
		want      int64
	}{
		{nil, 100},
		{[]float64{0.5}, 100},
		{[]float64{0.5, 0.5}, 100},
		{[]float64{0, 1}, 50},
		{[]float64{0, 3}, 50},
		{[]float64{0, 0.5, 1}, 59},
	} {
		if got := noderesources.Balance(slices.Clone(test.fractions)); got != test.want {
			t.Errorf("%v: got %d, want %d", test.fractions, got, test.want)
		}
	}
}

func TestBalancedAllocationSkipsPodsWithoutRequests(t *testing.T) {
	plugin := noderesources.BalancedAllocation{}
	if plugin.PreScore(frameworktest.Pending(t, "{}"), nil, nil) != nil {
		t.Error("a pod without requests has a preference")
	}
	scorer := plugin.PreScore(frameworktest.Pending(t, requesting("cpu: 2")), nil, nil)
	if got := scorer.Score(frameworktest.NodeInfo(t, "{}")); got != 75 { // half of the cpu, no memory
		t.Errorf("got %d, want 75", got)
	}
}

func TestHints(t *testing.T) {
	waiting := frameworktest.Pod(t, requesting("cpu: 2"))
	helps := func(change framework.Change) bool {
		for _, hint := range (noderesources.Fit{}).Hints() {
			if hint.On&change.Event != 0 && (hint.Helps == nil || hint.Helps(waiting, change)) {
				return true
			}
		}
		return false
	}
	for name, test := range map[string]struct {
		change framework.Change
		want   bool
	}{
		"cpu became free":    {framework.Change{Event: framework.AssignedPodDelete, Old: frameworktest.Pod(t, requesting("cpu: 1"))}, true},
		"memory became free": {framework.Change{Event: framework.AssignedPodDelete, Old: frameworktest.Pod(t, requesting("memory: 1Gi"))}, false},
		"a large node":       {framework.Change{Event: framework.NodeAdd, New: frameworktest.Node(t, "{}")}, true},
		"a small node":       {framework.Change{Event: framework.NodeAdd, New: frameworktest.Node(t, "status: {allocatable: {cpu: 1}}")}, false},
		"a label":            {framework.Change{Event: framework.NodeLabelUpdate, New: frameworktest.Node(t, "{}")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := helps(test.change); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
