package noderesources

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// FitName is the name of the plugin Fit.
const FitName = "NodeResourcesFit"

// Fit implements framework.FilterPlugin and framework.ScorePlugin. The zero
// value prefers the nodes with most left.
type Fit struct {
	Strategy Strategy
	// Ignored extended resources, and the groups before the / of others, are
	// not looked at when filtering.
	Ignored, IgnoredGroups []string
}

// Name implements framework.Plugin.
func (Fit) Name() string { return FitName }

// PreFilter implements framework.FilterPlugin.
func (f Fit) PreFilter(pod *framework.PodInfo, _ *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	if len(pod.Requests.Scalar) == 0 || len(f.Ignored)+len(f.IgnoredGroups) == 0 {
		return fitFilter{&pod.Requests}, nil
	}
	request := pod.Requests
	request.Scalar = maps.Clone(request.Scalar)
	maps.DeleteFunc(request.Scalar, func(name v1.ResourceName, _ int64) bool {
		group, _, _ := strings.Cut(string(name), "/")
		return slices.Contains(f.Ignored, string(name)) || slices.Contains(f.IgnoredGroups, group)
	})
	return fitFilter{&request}, nil
}

type fitFilter struct{ request *framework.Resource }

func (f fitFilter) Filter(node *framework.NodeInfo) *framework.Status {
	shortages := Fits(f.request, node)
	if len(shortages) == 0 {
		return nil
	}
	status := &framework.Status{Code: framework.Unschedulable, Plugin: FitName}
	for _, s := range shortages {
		status.Reasons = append(status.Reasons, s.Reason())
		if s.Hopeless() {
			status.Code = framework.UnschedulableAndUnresolvable
		}
	}
	return status
}

// Shortage is a resource of which a node has too little left.
type Shortage struct {
	Resource  v1.ResourceName
	Requested int64
	Used      int64
	Capacity  int64
}

// Reason is the shortage in Kubernetes' words.
func (s Shortage) Reason() string {
	if s.Resource == v1.ResourcePods {
		return "Too many pods"
	}
	return "Insufficient " + string(s.Resource)
}

// Hopeless reports whether even the empty node would be too small.
func (s Shortage) Hopeless() bool { return s.Requested > s.Capacity }

// Fits returns what the node is short of; nothing if the request fits. A
// resource that is not asked for may be overcommitted already.
func Fits(request *framework.Resource, node *framework.NodeInfo) []Shortage {
	var shortages []Shortage
	check := func(name v1.ResourceName, requested, used, capacity int64) {
		if requested > 0 && requested > capacity-used {
			shortages = append(shortages, Shortage{name, requested, used, capacity})
		}
	}
	check(v1.ResourcePods, 1, int64(len(node.Pods)), int64(node.Allocatable.Pods))
	check(v1.ResourceCPU, request.MilliCPU, node.Requested.MilliCPU, node.Allocatable.MilliCPU)
	check(v1.ResourceMemory, request.Memory, node.Requested.Memory, node.Allocatable.Memory)
	check(v1.ResourceEphemeralStorage, request.EphemeralStorage, node.Requested.EphemeralStorage, node.Allocatable.EphemeralStorage)
	if len(request.Scalar) > 0 {
		for _, name := range slices.Sorted(maps.Keys(request.Scalar)) {
			check(name, request.Scalar[name], node.Requested.Scalar[name], node.Allocatable.Scalar[name])
		}
	}
	return shortages
}

// PreScore implements framework.ScorePlugin.
func (f Fit) PreScore(pod *framework.PodInfo, _ *framework.Snapshot, _ []*framework.NodeInfo) framework.PodScorer {
	return fitScorer{pod, f.Strategy}
}

type fitScorer struct {
	pod      *framework.PodInfo
	strategy Strategy
}

func (s fitScorer) Score(node *framework.NodeInfo) int64 { return Score(s.strategy, s.pod, node) }

// Hints implements framework.Hinter.
func (Fit) Hints() []framework.Hint {
	return []framework.Hint{
		{On: framework.AssignedPodDelete | framework.AssignedPodScaleDown, Helps: freesWhatIsAsked},
		{On: framework.NodeAdd | framework.NodeAllocatableUpdate, Helps: nodeCouldHold},
		{On: framework.PodUpdate, Helps: requestsChanged},
	}
}

func freesWhatIsAsked(pod *v1.Pod, change framework.Change) bool {
	gone, ok := change.Old.(*v1.Pod)
	if !ok || change.Event != framework.AssignedPodDelete {
		return true
	}
	freed, asked := framework.PodRequests(gone), framework.PodRequests(pod)
	if asked.MilliCPU > 0 && freed.MilliCPU > 0 || asked.Memory > 0 && freed.Memory > 0 ||
		asked.EphemeralStorage > 0 && freed.EphemeralStorage > 0 {
		return true
	}
	for name := range asked.Scalar {
		if freed.Scalar[name] > 0 {
			return true
		}
	}
	// Neither asks for anything the other holds: it can only be the number of pods.
	return asked.MilliCPU == 0 && asked.Memory == 0 && asked.EphemeralStorage == 0 && len(asked.Scalar) == 0
}

func nodeCouldHold(pod *v1.Pod, change framework.Change) bool {
	node, ok := change.New.(*v1.Node)
	if !ok {
		return true
	}
	request := framework.PodRequests(pod)
	return len(Fits(&request, framework.NewNodeInfo(node))) == 0
}

func requestsChanged(_ *v1.Pod, change framework.Change) bool {
	before, ok1 := change.Old.(*v1.Pod)
	after, ok2 := change.New.(*v1.Pod)
	return !ok1 || !ok2 || before.Generation != after.Generation
}
