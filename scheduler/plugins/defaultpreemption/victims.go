package defaultpreemption

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Trial puts pods on a node and takes them off, in thought, and says whether
// the preemptor fits.
type Trial interface {
	AddPod(pod *framework.PodInfo, node *framework.NodeInfo)
	RemovePod(pod *framework.PodInfo, node *framework.NodeInfo)
	Filter(node *framework.NodeInfo) *framework.Status
}

// Candidate is a node with the pods to evict there, most important first.
type Candidate struct {
	Node       string
	Victims    []*framework.PodInfo
	Violations int // victims that a PodDisruptionBudget protects
}

// Potential lists the pods on a node that are less important than the pod.
func Potential(pod *framework.PodInfo, node *framework.NodeInfo) []*framework.PodInfo {
	var potential []*framework.PodInfo
	for _, p := range node.Pods {
		if p.Priority < pod.Priority {
			potential = append(potential, p)
		}
	}
	return potential
}

// NoVictims is the verdict on a node without a potential victim.
func NoVictims() *framework.Status {
	return framework.RejectForGood(Name, "No preemption victims found for incoming pod")
}

// SelectVictims finds the fewest and least important pods to evict from node,
// a clone: all potential ones go, then come back, the most important first and
// those that a budget protects before all others, as long as the preemptor
// still fits. A status that is not OK means that it would not even fit
// without all of them.
func SelectVictims(trial Trial, node *framework.NodeInfo, potential []*framework.PodInfo, budgets []*policyv1.PodDisruptionBudget) (Candidate, *framework.Status) {
	for _, p := range potential {
		trial.RemovePod(p, node)
	}
	if status := trial.Filter(node); !status.OK() {
		return Candidate{}, status
	}
	slices.SortStableFunc(potential, MoreImportant)
	protected, free := splitByBudget(potential, budgets)
	c := Candidate{Node: node.Name()}
	evicted := func(p *framework.PodInfo) bool {
		trial.AddPod(p, node)
		if trial.Filter(node).OK() {
			return false
		}
		trial.RemovePod(p, node)
		c.Victims = append(c.Victims, p)
		return true
	}
	for _, p := range protected {
		if evicted(p) {
			c.Violations++
		}
	}
	for _, p := range free {
		evicted(p)
	}
	slices.SortStableFunc(c.Victims, MoreImportant)
	return c, nil
}

// MoreImportant orders pods by priority, higher first, then by how long they run.
func MoreImportant(a, b *framework.PodInfo) int {
	switch {
	case a.Priority != b.Priority:
		if a.Priority > b.Priority {
			return -1
		}
		return 1
	case startsBefore(a, b):
		return -1
	case startsBefore(b, a):
		return 1
	}
	return 0
}

// startsBefore counts a pod that has not started as the latest of all.
func startsBefore(a, b *framework.PodInfo) bool {
	s, t := a.Pod.Status.StartTime, b.Pod.Status.StartTime
	return s != nil && (t == nil || s.Time.Before(t.Time))
}

// splitByBudget separates the pods whose eviction would violate a
// PodDisruptionBudget if all before them were evicted too.
func splitByBudget(pods []*framework.PodInfo, budgets []*policyv1.PodDisruptionBudget) (protected, free []*framework.PodInfo) {
	allowed := make([]int32, len(budgets))
	for i, b := range budgets {
		allowed[i] = b.Status.DisruptionsAllowed
	}
	for _, p := range pods {
		violates := false
		for i, b := range budgets {
			if !covers(b, p) {
				continue
			}
			allowed[i]--
			violates = violates || allowed[i] < 0
		}
		if violates {
			protected = append(protected, p)
		} else {
			free = append(free, p)
		}
	}
	return protected, free
}

// covers reports whether the budget counts the pod. One whose eviction the API
// server has granted already is not counted again.
func covers(b *policyv1.PodDisruptionBudget, p *framework.PodInfo) bool {
	if b.Namespace != p.Pod.Namespace || len(p.Pod.Labels) == 0 {
		return false
	}
	if _, granted := b.Status.DisruptedPods[p.Pod.Name]; granted {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(p.Pod.Labels))
}
