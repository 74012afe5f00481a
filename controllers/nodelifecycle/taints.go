package nodelifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// taintOf is the key of the taint that a condition asks for, "" for none.
func taintOf(condition *corev1.NodeCondition) string {
	switch condition.Type {
	case corev1.NodeReady:
		switch condition.Status {
		case corev1.ConditionFalse:
			return corev1.TaintNodeNotReady
		case corev1.ConditionUnknown:
			return corev1.TaintNodeUnreachable
		}
		return ""
	case corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable:
		if condition.Status == corev1.ConditionTrue {
			return pressureTaints()[condition.Type]
		}
	}
	return ""
}

func pressureTaints() map[corev1.NodeConditionType]string {
	return map[corev1.NodeConditionType]string{
		corev1.NodeMemoryPressure:     corev1.TaintNodeMemoryPressure,
		corev1.NodeDiskPressure:       corev1.TaintNodeDiskPressure,
		corev1.NodePIDPressure:        corev1.TaintNodePIDPressure,
		corev1.NodeNetworkUnavailable: corev1.TaintNodeNetworkUnavailable,
	}
}

// owned tells whether a taint is this controller's to set and to remove.
func owned(taint corev1.Taint) bool {
	switch taint.Key {
	case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable:
		return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
	case corev1.TaintNodeUnschedulable, corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeNetworkUnavailable:
		return taint.Effect == corev1.TaintEffectNoSchedule
	}
	return false
}

// noSchedule are the NoSchedule taints that a node's conditions ask for.
func noSchedule(node *corev1.Node) []corev1.Taint {
	var taints []corev1.Taint
	for i := range node.Status.Conditions {
		if key := taintOf(&node.Status.Conditions[i]); key != "" {
			taints = append(taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	if node.Spec.Unschedulable {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return taints
}

// noExecute is the key of the NoExecute taint that a node's readiness asks for, "" for none.
func noExecute(node *corev1.Node) string {
	if condition := conditionOf(node, corev1.NodeReady); condition != nil {
		return taintOf(condition)
	}
	return ""
}

// evicting tells whether a node has one of the NoExecute taints of its readiness.
func evicting(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect == corev1.TaintEffectNoExecute && owned(taint)
	})
}

// newTaints are the taints that a node should have; execute is the key of its
// NoExecute taint, "" for none. Taints that stay keep their place, and all that
// they say. It returns nil and false when nothing changes.
func newTaints(node *corev1.Node, execute string, now time.Time) ([]corev1.Taint, bool) {
	wanted := noSchedule(node)
	if execute != "" {
		wanted = append(wanted, corev1.Taint{Key: execute, Effect: corev1.TaintEffectNoExecute})
	}
	var taints []corev1.Taint
	for _, taint := range node.Spec.Taints {
		if !owned(taint) || contains(wanted, taint) {
			taints = append(taints, taint)
		}
	}
	changed := len(taints) != len(node.Spec.Taints)
	added := metav1.NewTime(now).Rfc3339Copy()
	for _, taint := range wanted {
		if !contains(taints, taint) {
			taint.TimeAdded = &added
			taints, changed = append(taints, taint), true
		}
	}
	return taints, changed
}

func contains(taints []corev1.Taint, taint corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(other corev1.Taint) bool { return other.MatchTaint(&taint) })
}

// newLabels are the deprecated labels that follow the stable ones, those that
// are missing or wrong.
func newLabels(node *corev1.Node) map[string]string {
	labels := map[string]string{}
	for stable, beta := range map[string]string{
		corev1.LabelOSStable:   "beta.kubernetes.io/os",
		corev1.LabelArchStable: "beta.kubernetes.io/arch",
	} {
		value, found := node.Labels[stable]
		if found && node.Labels[beta] != value {
			labels[beta] = value
		}
	}
	return labels
}
