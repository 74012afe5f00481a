package admission

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// DefaultTolerationSeconds lets pods stay for a while on a node that went away,
// as it may come back.
type DefaultTolerationSeconds struct {
	// NotReady and Unreachable are how long, in whole seconds.
	NotReady, Unreachable time.Duration
}

// Name of the plugin.
func (*DefaultTolerationSeconds) Name() string { return "DefaultTolerationSeconds" }

// Admit adds the two tolerations to a pod that says nothing of these taints.
func (p *DefaultTolerationSeconds) Admit(_ context.Context, a *Attributes) error {
	if (a.Verb != Create && a.Verb != Update) || !a.is(group("", "pods")) {
		return nil
	}
	spec := &a.Object.(*corev1.Pod).Spec
	tolerate(spec, corev1.TaintNodeNotReady, p.NotReady)
	tolerate(spec, corev1.TaintNodeUnreachable, p.Unreachable)
	return nil
}

func tolerate(spec *corev1.PodSpec, key string, period time.Duration) {
	for _, t := range spec.Tolerations {
		matchesKey := t.Key == key || t.Key == ""
		if matchesKey && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return
		}
	}
	seconds := int64(period / time.Second)
	spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
		Key:               key,
		Operator:          corev1.TolerationOpExists,
		Effect:            corev1.TaintEffectNoExecute,
		TolerationSeconds: &seconds,
	})
}
