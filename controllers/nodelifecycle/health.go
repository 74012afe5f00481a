package nodelifecycle

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// gracePeriod is how long a node may be silent.
	gracePeriod = 40 * time.Second
	// startupGracePeriod is the same for one that never told its status.
	startupGracePeriod = time.Minute
)

// health is what is remembered of a node: its last sign of life and when that
// was seen.
type health struct {
	heartbeat metav1.Time // of the Ready condition
	ready     bool        // whether there was such a condition
	renewed   metav1.MicroTime
	seen      time.Time
}

// observe updates a node's health; old is nil at first sight.
func observe(old *health, node *corev1.Node, lease *coordinationv1.Lease, now time.Time) health {
	h := health{seen: now}
	if condition := conditionOf(node, corev1.NodeReady); condition != nil {
		h.ready, h.heartbeat = true, condition.LastHeartbeatTime
	}
	if lease != nil && lease.Spec.RenewTime != nil {
		h.renewed = *lease.Spec.RenewTime
	}
	switch {
	case old == nil && !h.ready:
		h.seen = node.CreationTimestamp.Time
	case old == nil:
	case h.ready == old.ready && h.heartbeat.Equal(&old.heartbeat) && !old.renewed.Before(&h.renewed):
		h.seen = old.seen
	}
	return h
}

// silent tells whether nothing was heard of the node for too long.
func (h health) silent(now time.Time) bool {
	grace := gracePeriod
	if !h.ready {
		grace = startupGracePeriod
	}
	return now.After(h.seen.Add(grace))
}

// unknown is the status of a silent node, and whether that differs from its
// present one.
func unknown(node *corev1.Node, now time.Time) (corev1.NodeStatus, bool) {
	status, changed := *node.Status.DeepCopy(), false
	at := metav1.NewTime(now).Rfc3339Copy()
	for _, kind := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		condition := find(status.Conditions, kind)
		switch {
		case condition == nil:
			status.Conditions = append(status.Conditions, corev1.NodeCondition{
				Type: kind, Status: corev1.ConditionUnknown, Reason: "NodeStatusNeverUpdated", Message: "Kubelet never posted node status.",
				LastHeartbeatTime: node.CreationTimestamp, LastTransitionTime: at,
			})
			changed = true
		case condition.Status != corev1.ConditionUnknown:
			condition.Status, condition.Reason, condition.Message = corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status."
			condition.LastTransitionTime = at
			changed = true
		}
	}
	return status, changed
}

func conditionOf(node *corev1.Node, kind corev1.NodeConditionType) *corev1.NodeCondition {
	return find(node.Status.Conditions, kind)
}

func find(conditions []corev1.NodeCondition, kind corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// readiness is the status of the Ready condition, "" without one.
func readiness(node *corev1.Node) corev1.ConditionStatus {
	if condition := conditionOf(node, corev1.NodeReady); condition != nil {
		return condition.Status
	}
	return ""
}
