package scheduler

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"github.com/kubesim/kubesim/scheduler/extender"
	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins/defaultpreemption"
	"github.com/kubesim/kubesim/scheduler/profile"
)

// filterByExtenders asks the extenders, one after another, about the nodes
// that are left.
func (s *scheduler) filterByExtenders(ctx context.Context, pod *v1.Pod, nodes []*framework.NodeInfo, diagnosis *framework.Diagnosis) ([]*framework.NodeInfo, error) {
	for _, e := range s.extenders {
		if len(nodes) == 0 {
			break
		}
		if !e.Interested(pod) {
			continue
		}
		left, failed, err := e.Filter(ctx, pod, nodes)
		if err != nil {
			if e.Ignorable() {
				s.Logger.Info("Skipped an extender that failed", "pod", key(pod), "err", err)
				continue
			}
			return nil, err
		}
		for name, status := range failed {
			if node := s.snapshot.Node(name); node != nil {
				diagnosis.Set(node, status)
			}
		}
		nodes = left
	}
	return nodes, nil
}

// scoreByExtenders adds the scores that extenders give. One that fails gives none.
func (s *scheduler) scoreByExtenders(ctx context.Context, pod *v1.Pod, scores profile.Scores) {
	for _, e := range s.extenders {
		if !e.Interested(pod) {
			continue
		}
		given, err := e.Prioritize(ctx, pod, scores.Nodes)
		if err != nil {
			s.Logger.Info("Skipped the scores of an extender that failed", "pod", key(pod), "err", err)
			continue
		}
		for i, node := range scores.Nodes {
			scores.Totals[i] += given[node.Name()]
		}
	}
}

// preemptByExtenders lets extenders strike candidates, and victims.
func (s *scheduler) preemptByExtenders(ctx context.Context, pod *v1.Pod, candidates []defaultpreemption.Candidate) []defaultpreemption.Candidate {
	for _, e := range s.extenders {
		if len(candidates) == 0 || !e.Preempts(pod) {
			continue
		}
		victims := map[string]*extenderv1.Victims{}
		for _, c := range candidates {
			v := &extenderv1.Victims{NumPDBViolations: int64(c.Violations)}
			for _, p := range c.Victims {
				v.Pods = append(v.Pods, p.Pod)
			}
			victims[c.Node] = v
		}
		left, err := e.Preempt(ctx, pod, victims)
		if err != nil {
			s.Logger.Info("An extender failed to choose victims", "pod", key(pod), "err", err)
			if e.Ignorable() {
				continue
			}
			return nil
		}
		candidates = slices.DeleteFunc(candidates, func(c defaultpreemption.Candidate) bool { return left[c.Node] == nil })
		for i := range candidates {
			c := &candidates[i]
			c.Victims = slices.DeleteFunc(c.Victims, func(p *framework.PodInfo) bool { return !left[c.Node].Has(string(p.Pod.UID)) })
		}
	}
	return candidates
}

// binder is the extender that binds the pod, nil if the scheduler does.
func (s *scheduler) binder(pod *v1.Pod) *extender.Extender {
	for _, e := range s.extenders {
		if e.Binds(pod) {
			return e
		}
	}
	return nil
}
