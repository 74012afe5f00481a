package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// TaintNodesByCondition keeps pods off a new node until the node controller has
// seen that it is ready.
type TaintNodesByCondition struct{}

// Name of the plugin.
func (*TaintNodesByCondition) Name() string { return "TaintNodesByCondition" }

// Admit taints a new node as not ready.
func (*TaintNodesByCondition) Admit(_ context.Context, a *Attributes) error {
	if a.Verb != Create || !a.is(group("", "nodes")) {
		return nil
	}
	node := a.Object.(*corev1.Node)
	taint := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	for i := range node.Spec.Taints {
		if node.Spec.Taints[i].MatchTaint(&taint) {
			return nil
		}
	}
	node.Spec.Taints = append(node.Spec.Taints, taint)
	return nil
}
