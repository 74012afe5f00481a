package fakelet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

const (
	// pressureAnnotation on a Node puts it under pressure: memory, disk or pid, or
	// several of them.
	pressureAnnotation = "kubesim.io/pressure"
	// evictEvery is the time between two evictions of a node under pressure, in
	// which a kubelet looks whether the last one has helped.
	evictEvery = 10 * time.Second
	// critical is the priority from which pods are not evicted.
	critical = 2_000_000_000
)

// pressures are the resources that a node is short of.
func pressures(node *corev1.Node) []string {
	return strings.FieldsFunc(node.Annotations[pressureAnnotation], func(r rune) bool { return r == ',' || r == ' ' })
}

// eviction is why a node gives a pod up.
func eviction(node *corev1.Node) string {
	for _, what := range pressures(node) {
		switch what {
		case "memory":
			return "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. "
		case "disk":
			return "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 5Gi. "
		case "pid":
			return "The node was low on resource: pids. Threshold quantity: 1000, available: 100. "
		}
	}
	return ""
}

// evict fails a pod that the node gives up.
func (p *pass) evict() bool {
	if p.evicted == "" {
		return false
	}
	p.stopAll(exitKilled)
	p.status.Phase, p.status.Reason, p.status.Message = corev1.PodFailed, "Evicted", p.evicted
	p.status.Conditions = append(slices.DeleteFunc(p.status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget }), corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonTerminationByKubelet, Message: p.evicted,
		LastTransitionTime: p.at, ObservedGeneration: p.pod.Generation,
	})
	p.tell(corev1.EventTypeWarning, "Evicted", p.evicted, "")
	p.changed = true
	p.decision = "evicted by the node"
	return true
}

// victim is the pod that a node under pressure gives up first, nil if there is
// none: one without requests before one with some, those with all of what they may
// use last; then the lower priority, the larger request, the younger.
func victim(pods []*corev1.Pod) *corev1.Pod {
	candidates := slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool {
		return ended(p.Status.Phase) || p.DeletionTimestamp != nil || p.Status.StartTime == nil || priorityOf(p) >= critical
	})
	if len(candidates) == 0 {
		return nil
	}
	return slices.MinFunc(candidates, func(a, b *corev1.Pod) int {
		memory := func(p *corev1.Pod) int64 {
			requests := resource.PodRequests(p, resource.PodResourcesOptions{})
			return requests.Memory().Value()
		}
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)), cmp.Compare(priorityOf(a), priorityOf(b)), cmp.Compare(memory(b), memory(a)),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name),
		)
	})
}

func rank(p *corev1.Pod) int {
	return map[corev1.PodQOSClass]int{corev1.PodQOSBurstable: 1, corev1.PodQOSGuaranteed: 2}[p.Status.QOSClass]
}

func priorityOf(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}
