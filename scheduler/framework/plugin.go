package framework

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// MaxNodeScore is the best that a plugin's (normalised) score can be; 0 is the worst.
const MaxNodeScore int64 = 100

// Plugin is one rule of scheduling. It implements one or more of the
// interfaces below, and Hinter so that pods which it rejected are tried again.
type Plugin interface {
	Name() string
}

// PreEnqueuePlugin says whether a pod may be queued at all.
type PreEnqueuePlugin interface {
	Plugin
	PreEnqueue(pod *v1.Pod) *Status
}

// FilterPlugin says on which nodes a pod can run.
type FilterPlugin interface {
	Plugin
	// PreFilter does what need not be done for each node. A nil PodFilter lets
	// all nodes pass; a status that is not OK rejects the pod on all of them.
	PreFilter(pod *PodInfo, snapshot *Snapshot) (PodFilter, *Status)
}

// PodFilter judges nodes for one pod.
type PodFilter interface {
	Filter(node *NodeInfo) *Status
}

// NodeNarrower is a PodFilter that knows beforehand which nodes come into question at all.
type NodeNarrower interface {
	PodFilter
	// NodeNames returns the only nodes to look at, nil for all.
	NodeNames() sets.Set[string]
}

// ClusterFilter is a PodFilter whose verdict depends on pods of other nodes
// too. It is told when a pod is put on, or taken off, a node in thought.
type ClusterFilter interface {
	PodFilter
	AddPod(pod *PodInfo, node *NodeInfo)
	RemovePod(pod *PodInfo, node *NodeInfo)
	Clone() ClusterFilter
}

// ScorePlugin says which of the feasible nodes is better.
type ScorePlugin interface {
	Plugin
	// PreScore returns nil when the plugin has no preference among the nodes.
	PreScore(pod *PodInfo, snapshot *Snapshot, feasible []*NodeInfo) PodScorer
}

// PodScorer scores nodes for one pod: 0 to MaxNodeScore, or any number if it is
// a Normalizer too.
type PodScorer interface {
	Score(node *NodeInfo) int64
}

// Normalizer brings the scores of all feasible nodes into 0 to MaxNodeScore.
type Normalizer interface {
	PodScorer
	Normalize(nodes []*NodeInfo, scores []int64)
}

// NormalizeByMax scales scores so that the largest becomes MaxNodeScore, and
// turns them round if the largest is the worst.
func NormalizeByMax(scores []int64, reverse bool) {
	var largest int64
	for _, s := range scores {
		largest = max(largest, s)
	}
	for i, s := range scores {
		if largest > 0 {
			s = MaxNodeScore * s / largest
		}
		if reverse {
			s = MaxNodeScore - s
		}
		scores[i] = s
	}
}

// Hinter tells after which events a pod that the plugin rejected is worth
// another try.
type Hinter interface {
	Plugin
	Hints() []Hint
}

// BindPreparer has work to do between the decision for a node and the binding.
type BindPreparer interface {
	Plugin
	// Reserve sets aside, in the scheduling loop, what the pod needs on the
	// node. It is slow if PreBind must be called, which may wait for others.
	Reserve(pod *PodInfo, node *NodeInfo) (slow bool, err error)
	PreBind(ctx context.Context, pod *PodInfo, node string) error
	// Unreserve gives back what was reserved, if anything: the pod is bound, or
	// could not be.
	Unreserve(pod *PodInfo)
}
