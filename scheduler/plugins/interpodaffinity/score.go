package interpodaffinity

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// PreScore implements framework.ScorePlugin.
func (pl Plugin) PreScore(pod *framework.PodInfo, snapshot *framework.Snapshot, _ []*framework.NodeInfo) framework.PodScorer {
	own := len(pod.PreferredAffinity)+len(pod.PreferredAntiAffinity) > 0
	if pl.OwnOnly && !own {
		return nil
	}
	hardWeight := int64(ptr.Deref(pl.HardWeight, 1))
	nodes := snapshot.WithAffinity
	if own {
		nodes = snapshot.Nodes
	}
	s := scorer{}
	nsLabels := pl.Handle.NamespaceLabels(pod.Pod.Namespace)
	for _, node := range nodes {
		pods := node.PodsWithAffinity
		if own {
			pods = node.Pods
		}
		for _, other := range pods {
			var otherLabels labels.Set
			if own {
				otherLabels = pl.Handle.NamespaceLabels(other.Pod.Namespace)
			}
			s.count(pod, nsLabels, other, otherLabels, node.Node, hardWeight)
		}
	}
	if len(s) == 0 {
		return nil
	}
	return s
}

// scorer holds what speaks for each domain, by topology key and value.
type scorer map[string]map[string]int64

// count lets the terms of pod and of another one on a node speak.
func (s scorer) count(pod *framework.PodInfo, nsLabels labels.Set, other *framework.PodInfo, otherLabels labels.Set, node *v1.Node, hardWeight int64) {
	s.speak(pod.PreferredAffinity, other.Pod, otherLabels, node, 1)
	s.speak(pod.PreferredAntiAffinity, other.Pod, otherLabels, node, -1)
	for i := range other.RequiredAffinity {
		s.add(&other.RequiredAffinity[i], pod.Pod, nsLabels, node, hardWeight)
	}
	s.speak(other.PreferredAffinity, pod.Pod, nsLabels, node, 1)
	s.speak(other.PreferredAntiAffinity, pod.Pod, nsLabels, node, -1)
}

func (s scorer) speak(terms []framework.WeightedAffinityTerm, pod *v1.Pod, nsLabels labels.Set, node *v1.Node, sign int64) {
	for i := range terms {
		s.add(&terms[i].AffinityTerm, pod, nsLabels, node, sign*int64(terms[i].Weight))
	}
}

func (s scorer) add(term *framework.AffinityTerm, pod *v1.Pod, nsLabels labels.Set, node *v1.Node, weight int64) {
	value, ok := node.Labels[term.TopologyKey]
	if !ok || !term.Matches(pod, nsLabels) {
		return
	}
	if s[term.TopologyKey] == nil {
		s[term.TopologyKey] = map[string]int64{}
	}
	s[term.TopologyKey][value] += weight
}

// Score sums what speaks for the domains of the node.
func (s scorer) Score(node *framework.NodeInfo) int64 {
	var sum int64
	for key, values := range s {
		if value, ok := node.Node.Labels[key]; ok {
			sum += values[value]
		}
	}
	return sum
}

// Normalize stretches the scores, which may be negative, over 0 to 100.
func (scorer) Normalize(_ []*framework.NodeInfo, scores []int64) {
	if len(scores) == 0 {
		return
	}
	lowest, highest := scores[0], scores[0]
	for _, s := range scores {
		lowest, highest = min(lowest, s), max(highest, s)
	}
	for i, s := range scores {
		scores[i] = 0
		if highest > lowest {
			scores[i] = int64(float64(framework.MaxNodeScore) * (float64(s-lowest) / float64(highest-lowest)))
		}
	}
}
