package interpodaffinity

import (
	"maps"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubesim/kubesim/scheduler/framework"
)

var (
	noAffinity = framework.RejectForGood(Name, "node(s) didn't match pod affinity rules")
	noAnti     = framework.Reject(Name, "node(s) didn't match pod anti-affinity rules")
	noOthers   = framework.Reject(Name, "node(s) didn't satisfy existing pods anti-affinity rules")
)

// PreFilter implements framework.FilterPlugin.
func (pl Plugin) PreFilter(pod *framework.PodInfo, snapshot *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	own := len(pod.RequiredAffinity)+len(pod.RequiredAntiAffinity) > 0
	if !own && len(snapshot.WithRequiredAntiAffinity) == 0 {
		return nil, nil
	}
	f := &filter{
		pod:      pod,
		handle:   pl.Handle,
		nsLabels: pl.Handle.NamespaceLabels(pod.Pod.Namespace),
		affinity: counts{}, anti: counts{}, others: counts{},
	}
	nodes := snapshot.WithRequiredAntiAffinity
	if own {
		nodes = snapshot.Nodes
	}
	for _, node := range nodes {
		pods := node.PodsWithRequiredAntiAffinity
		if own {
			pods = node.Pods
		}
		for _, p := range pods {
			f.count(p, node.Node, 1)
		}
	}
	if !own && len(f.others) == 0 {
		return nil, nil
	}
	return f, nil
}

// counts of pods by domain; a domain without any has no entry.
type counts map[domain]int

func (c counts) add(d domain, n int) {
	if c[d] += n; c[d] == 0 {
		delete(c, d)
	}
}

type filter struct {
	pod      *framework.PodInfo
	handle   framework.Handle
	nsLabels labels.Set // of the pod's namespace

	affinity counts // pods that match all required affinity terms, by each term's domain
	anti     counts // pods that match a required anti-affinity term
	others   counts // pods whose required anti-affinity terms match the pod
}

// count takes account of another pod on a node; n is 1 or -1.
func (f *filter) count(other *framework.PodInfo, node *v1.Node, n int) {
	for i := range other.RequiredAntiAffinity {
		term := &other.RequiredAntiAffinity[i]
		if value, ok := node.Labels[term.TopologyKey]; ok && term.Matches(f.pod.Pod, f.nsLabels) {
			f.others.add(domain{term.TopologyKey, value}, n)
		}
	}
	if len(f.pod.RequiredAffinity)+len(f.pod.RequiredAntiAffinity) == 0 {
		return
	}
	otherLabels := f.handle.NamespaceLabels(other.Pod.Namespace)
	if matchesAll(f.pod.RequiredAffinity, other.Pod, otherLabels) {
		for _, term := range f.pod.RequiredAffinity {
			if value, ok := node.Labels[term.TopologyKey]; ok {
				f.affinity.add(domain{term.TopologyKey, value}, n)
			}
		}
	}
	for i := range f.pod.RequiredAntiAffinity {
		term := &f.pod.RequiredAntiAffinity[i]
		if value, ok := node.Labels[term.TopologyKey]; ok && term.Matches(other.Pod, otherLabels) {
			f.anti.add(domain{term.TopologyKey, value}, n)
		}
	}
}

// matchesAll reports whether all terms, of which there is one at least, mean the pod.
func matchesAll(terms []framework.AffinityTerm, pod *v1.Pod, nsLabels labels.Set) bool {
	for i := range terms {
		if !terms[i].Matches(pod, nsLabels) {
			return false
		}
	}
	return len(terms) > 0
}

func (f *filter) Filter(node *framework.NodeInfo) *framework.Status {
	switch {
	case !f.hasCompany(node.Node.Labels):
		return noAffinity
	case f.hasEnemy(node.Node.Labels):
		return noAnti
	case f.isEnemy(node.Node.Labels):
		return noOthers
	}
	return nil
}

// hasCompany reports whether each affinity term finds pods in the node's
// domain. The first of pods with affinity to themselves needs none, wherever
// the domain exists.
func (f *filter) hasCompany(nodeLabels map[string]string) bool {
	found := true
	for _, term := range f.pod.RequiredAffinity {
		value, ok := nodeLabels[term.TopologyKey]
		if !ok {
			return false
		}
		found = found && f.affinity[domain{term.TopologyKey, value}] > 0
	}
	return found || len(f.affinity) == 0 && matchesAll(f.pod.RequiredAffinity, f.pod.Pod, f.nsLabels)
}

// hasEnemy reports whether a pod is near that this one will not be near to.
func (f *filter) hasEnemy(nodeLabels map[string]string) bool {
	if len(f.anti) == 0 {
		return false
	}
	for _, term := range f.pod.RequiredAntiAffinity {
		if value, ok := nodeLabels[term.TopologyKey]; ok && f.anti[domain{term.TopologyKey, value}] > 0 {
			return true
		}
	}
	return false
}

// isEnemy reports whether a pod is near that will not have this one near.
func (f *filter) isEnemy(nodeLabels map[string]string) bool {
	if len(f.others) == 0 {
		return false
	}
	for key, value := range nodeLabels {
		if f.others[domain{key, value}] > 0 {
			return true
		}
	}
	return false
}

// AddPod, RemovePod and Clone implement framework.ClusterFilter.
func (f *filter) AddPod(pod *framework.PodInfo, node *framework.NodeInfo) {
	f.count(pod, node.Node, 1)
}

func (f *filter) RemovePod(pod *framework.PodInfo, node *framework.NodeInfo) {
	f.count(pod, node.Node, -1)
}

func (f *filter) Clone() framework.ClusterFilter {
	c := *f
	c.affinity, c.anti, c.others = maps.Clone(f.affinity), maps.Clone(f.anti), maps.Clone(f.others)
	return &c
}
