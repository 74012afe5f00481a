// Package nodeaffinity keeps pods to the nodes that their nodeSelector and
// required node affinity select, and prefers those of preferred terms.
package nodeaffinity

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "NodeAffinity"

// Plugin implements framework.FilterPlugin and framework.ScorePlugin.
type Plugin struct {
	// Added is node affinity that all pods of the profile get on top of their own.
	Added *v1.NodeAffinity
}

var (
	rejected    = framework.RejectForGood(Name, "node(s) didn't match Pod's node affinity/selector")
	enforced    = framework.RejectForGood(Name, "node(s) didn't match scheduler-enforced node affinity")
	conflicting = framework.RejectForGood(Name, "pod affinity terms conflict")
)

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// PreFilter implements framework.FilterPlugin.
func (pl Plugin) PreFilter(pod *framework.PodInfo, _ *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	spec := &pod.Pod.Spec
	if len(spec.NodeSelector) == 0 && required(spec) == nil && pl.added() == nil {
		return nil, nil
	}
	names := NamedNodes(required(spec))
	if names != nil && names.Len() == 0 {
		return nil, conflicting
	}
	return filter{nodeaffinity.GetRequiredNodeAffinity(pod.Pod), pl.added(), names}, nil
}

type filter struct {
	required nodeaffinity.RequiredNodeAffinity
	added    *nodeaffinity.LazyErrorNodeSelector // nil for none
	names    sets.Set[string]
}

func (f filter) Filter(node *framework.NodeInfo) *framework.Status {
	if f.added != nil {
		if match, _ := f.added.Match(node.Node); !match {
			return enforced
		}
	}
	// A selector that does not parse selects nothing.
	if match, _ := f.required.Match(node.Node); !match {
		return rejected
	}
	return nil
}

func (pl Plugin) added() *nodeaffinity.LazyErrorNodeSelector {
	if pl.Added == nil || pl.Added.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return nodeaffinity.NewLazyErrorNodeSelector(pl.Added.RequiredDuringSchedulingIgnoredDuringExecution)
}

// NodeNames implements framework.NodeNarrower.
func (f filter) NodeNames() sets.Set[string] { return f.names }

// NamedNodes returns the nodes to which every term confines the pod by name,
// as the terms of a DaemonSet's pods do; nil if a term admits any node.
func NamedNodes(selector *v1.NodeSelector) sets.Set[string] {
	if selector == nil {
		return nil
	}
	var all sets.Set[string]
	for _, term := range selector.NodeSelectorTerms {
		var names sets.Set[string] // of this term: requirements are ANDed
		for _, r := range term.MatchFields {
			if r.Key != metav1.ObjectNameField || r.Operator != v1.NodeSelectorOpIn {
				continue
			}
			if s := sets.New(r.Values...); names == nil {
				names = s
			} else {
				names = names.Intersection(s)
			}
		}
		if names == nil {
			return nil
		}
		if len(term.MatchExpressions) == 0 && len(term.MatchFields) == 0 {
			continue
		}
		all = all.Union(names)
	}
	return all
}

// PreScore implements framework.ScorePlugin.
func (pl Plugin) PreScore(pod *framework.PodInfo, _ *framework.Snapshot, _ []*framework.NodeInfo) framework.PodScorer {
	var preferred []v1.PreferredSchedulingTerm
	if affinity := pod.Pod.Spec.Affinity; affinity != nil && affinity.NodeAffinity != nil {
		preferred = affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	}
	if pl.Added != nil {
		preferred = append(slices.Clip(preferred), pl.Added.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	if len(preferred) == 0 {
		return nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(preferred)
	if err != nil {
		return nil // the API server does not let such pods in
	}
	return scorer{terms}
}

type scorer struct {
	terms *nodeaffinity.PreferredSchedulingTerms
}

// Score sums the weights of the terms that select the node.
func (s scorer) Score(node *framework.NodeInfo) int64 { return s.terms.Score(node.Node) }

func (scorer) Normalize(_ []*framework.NodeInfo, scores []int64) {
	framework.NormalizeByMax(scores, false)
}

func required(spec *v1.PodSpec) *v1.NodeSelector {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{{
		On: framework.NodeAdd | framework.NodeLabelUpdate,
		Helps: func(pod *v1.Pod, change framework.Change) bool {
			node, ok := change.New.(*v1.Node)
			if !ok {
				return true
			}
			match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
			return match || err != nil
		},
	}, {On: framework.PodUpdate}}
}
