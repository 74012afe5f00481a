package fakelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// refusal is why a node does not take a pod.
type refusal struct{ reason, message string }

// refuse fails a pod that the node does not take.
func (p *pass) refuse() {
	p.status.Phase, p.status.Reason = corev1.PodFailed, p.refused.reason
	p.status.Message = "Pod was rejected: " + p.refused.message
	p.tell(corev1.EventTypeWarning, p.refused.reason, p.refused.message, "")
	p.changed = true
	p.decision = "the node does not take the pod: " + p.refused.reason
}

// admit looks whether a node has room for a pod beside those it has taken, and
// whether the pod wants to be there. The scheduler has seen to that; pods that are
// bound otherwise may be wrong.
func admit(pod *corev1.Pod, node *corev1.Node, others []*corev1.Pod) *refusal {
	if fails(pod, nil, failAdmission) {
		return &refusal{"UnexpectedAdmissionError", "Allocate failed due to the annotation " + failAnnotation + ", which is unexpected"}
	}
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err == nil && !ok {
		return &refusal{"NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"}
	}
	used := corev1.ResourceList{}
	for _, o := range others {
		for name, q := range resource.PodRequests(o, resource.PodResourcesOptions{UseStatusResources: true}) {
			sum := used[name]
			sum.Add(q)
			used[name] = sum
		}
	}
	if room, ok := node.Status.Allocatable[corev1.ResourcePods]; ok && int64(len(others))+1 > room.Value() {
		return lacks(corev1.ResourcePods, 1, int64(len(others)), room.Value())
	}
	for name, q := range resource.PodRequests(pod, resource.PodResourcesOptions{}) {
		if q.IsZero() {
			continue
		}
		room, taken := node.Status.Allocatable[name], used[name]
		amount := func(q interface {
			MilliValue() int64
			Value() int64
		}) int64 {
			if name == corev1.ResourceCPU {
				return q.MilliValue()
			}
			return q.Value()
		}
		if amount(&q)+amount(&taken) > amount(&room) {
			return lacks(name, amount(&q), amount(&taken), amount(&room))
		}
	}
	return nil
}

func lacks(name corev1.ResourceName, requested, used, capacity int64) *refusal {
	return &refusal{"OutOf" + string(name), fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", name, requested, used, capacity)}
}
