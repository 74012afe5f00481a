package podgc

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

// cause is why a pod goes.
type cause int

const (
	none cause = iota
	orphaned
	outOfService
	unscheduled
)

// decide tells why a pod should go, if it should; node is nil when it is gone,
// or not known to be.
func decide(pod *corev1.Pod, node *corev1.Node, gone bool) cause {
	switch {
	case pod.Spec.NodeName == "" && pod.DeletionTimestamp != nil:
		return unscheduled
	case pod.Spec.NodeName == "":
		return none
	case node == nil && gone:
		return orphaned
	case node != nil && pod.DeletionTimestamp != nil && !ready(node) && shutDown(node):
		return outOfService
	}
	return none
}

func ready(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func shutDown(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeOutOfService })
}

// surplus are the finished pods above the threshold: evicted ones first, then
// the oldest.
func surplus(pods []*corev1.Pod, threshold int) []*corev1.Pod {
	var finished []*corev1.Pod
	for _, pod := range pods {
		if children.Finished(pod) {
			finished = append(finished, pod)
		}
	}
	if len(finished) <= threshold {
		return nil
	}
	slices.SortFunc(finished, func(a, b *corev1.Pod) int {
		if evicted(a) != evicted(b) {
			if evicted(a) {
				return -1
			}
			return 1
		}
		if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
			return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return finished[:len(finished)-threshold]
}

func evicted(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == "Evicted"
}

// quarantine is how long a node must be missing.
const quarantine = 40 * time.Second

// absences remember since when nodes that pods name are missing.
type absences map[string]time.Time

// update takes over what is missing now, and names the nodes whose quarantine is over.
func (a absences) update(pods []*corev1.Pod, exists func(node string) bool, now time.Time) map[string]bool {
	missing, gone := map[string]bool{}, map[string]bool{}
	for _, pod := range pods {
		name := pod.Spec.NodeName
		if name == "" || missing[name] || exists(name) {
			continue
		}
		missing[name] = true
		if _, known := a[name]; !known {
			a[name] = now
		}
		if now.Sub(a[name]) >= quarantine {
			gone[name] = true
		}
	}
	for name := range a {
		if !missing[name] {
			delete(a, name)
		}
	}
	return gone
}
