package profile

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Attempt is one pod's pass through the plugins.
type Attempt struct {
	Pod      *framework.PodInfo
	Snapshot *framework.Snapshot
	// Nominated returns the pods that preemption has promised a node to; may be nil.
	Nominated func(node string) []*framework.PodInfo

	// NodeNames are the only nodes that come into question, because of
	// NarrowedBy; nil for all.
	NodeNames  sets.Set[string]
	NarrowedBy []string

	profile *Profile
	local   []framework.PodFilter
	cluster []framework.PodFilter
	memo    *memo
}

// Start lets the plugins look at the pod. A status that is not OK rejects it
// as such; the attempt is still good for preemption then.
func (p *Profile) Start(pod *framework.PodInfo, snapshot *framework.Snapshot) (*Attempt, *framework.Status) {
	a := &Attempt{Pod: pod, Snapshot: snapshot, profile: p, memo: p.memoFor(pod.Signature, snapshot)}
	for i, plugin := range p.filters {
		filter, status := plugin.PreFilter(pod, snapshot)
		if !status.OK() {
			return a, status
		}
		if filter == nil {
			continue
		}
		if i < p.locals {
			a.local = append(a.local, filter)
		} else {
			a.cluster = append(a.cluster, filter)
		}
		if status := a.narrow(plugin.Name(), filter); !status.OK() {
			return a, status
		}
	}
	return a, nil
}

func (a *Attempt) narrow(plugin string, filter framework.PodFilter) *framework.Status {
	narrower, ok := filter.(framework.NodeNarrower)
	if !ok {
		return nil
	}
	names := narrower.NodeNames()
	if names == nil {
		return nil
	}
	if a.NodeNames != nil {
		names = a.NodeNames.Intersection(names)
	}
	a.NodeNames = names
	a.NarrowedBy = append(a.NarrowedBy, plugin)
	slices.Sort(a.NarrowedBy)
	if names.Len() > 0 {
		return nil
	}
	reason := fmt.Sprintf("node(s) didn't satisfy plugin(s) %v simultaneously", a.NarrowedBy)
	return framework.RejectForGood(plugin, reason)
}

// Filter says whether the pod fits a node, with room left for pods that are as
// important and were promised the node. It must fit without them as well, for
// they may never come.
func (a *Attempt) Filter(node *framework.NodeInfo) *framework.Status {
	if promised := a.promised(node); len(promised) > 0 {
		full, with := node.Clone(), a.Clone()
		for _, p := range promised {
			with.AddPod(p, full)
		}
		if status := with.judge(full); !status.OK() {
			return status
		}
	}
	return a.judge(node)
}

func (a *Attempt) judge(node *framework.NodeInfo) *framework.Status {
	if status := a.filterLocal(node); !status.OK() {
		return status
	}
	return run(a.cluster, node)
}

func (a *Attempt) filterLocal(node *framework.NodeInfo) *framework.Status {
	if a.memo == nil {
		return run(a.local, node)
	}
	known := &a.memo.filters[node.Index]
	if known.generation != node.Generation {
		*known = filterMemo{node.Generation, run(a.local, node)}
	}
	return known.status
}

func run(filters []framework.PodFilter, node *framework.NodeInfo) *framework.Status {
	for _, f := range filters {
		if status := f.Filter(node); !status.OK() {
			return status
		}
	}
	return nil
}

// Rejections are what all plugins have against a node, for those who want to
// know more than the first.
func (a *Attempt) Rejections(node *framework.NodeInfo) []*framework.Status {
	var all []*framework.Status
	if a.NodeNames != nil && !a.NodeNames.Has(node.Name()) {
		all = append(all, framework.RejectForGood(a.NarrowedBy[0], fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", a.NarrowedBy)))
	}
	for _, f := range slices.Concat(a.local, a.cluster) {
		status := f.Filter(node)
		known := func(s *framework.Status) bool { return s.Plugin == status.Plugin }
		if !status.OK() && !slices.ContainsFunc(all, known) {
			all = append(all, status)
		}
	}
	return all
}

func (a *Attempt) promised(node *framework.NodeInfo) []*framework.PodInfo {
	if a.Nominated == nil {
		return nil
	}
	var promised []*framework.PodInfo
	for _, p := range a.Nominated(node.Name()) {
		if p.Priority >= a.Pod.Priority && p.Pod.UID != a.Pod.Pod.UID {
			promised = append(promised, p)
		}
	}
	return promised
}

// Clone returns an attempt that can be told of pods put on nodes and taken off
// them, without changing a, and judges such nodes.
func (a *Attempt) Clone() *Attempt {
	c := *a
	c.memo = nil
	c.cluster = slices.Clone(a.cluster)
	for i, f := range c.cluster {
		if f, ok := f.(framework.ClusterFilter); ok {
			c.cluster[i] = f.Clone()
		}
	}
	return &c
}

// AddPod puts a pod on a node, which is a clone, in thought.
func (a *Attempt) AddPod(pod *framework.PodInfo, node *framework.NodeInfo) {
	node.AddPod(pod)
	for _, f := range a.cluster {
		if f, ok := f.(framework.ClusterFilter); ok {
			f.AddPod(pod, node)
		}
	}
}

// RemovePod takes a pod off a node, which is a clone, in thought.
func (a *Attempt) RemovePod(pod *framework.PodInfo, node *framework.NodeInfo) {
	node.RemovePod(pod.Pod.UID)
	for _, f := range a.cluster {
		if f, ok := f.(framework.ClusterFilter); ok {
			f.RemovePod(pod, node)
		}
	}
}
