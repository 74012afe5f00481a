package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// AlwaysPullImages makes every start of a container ask the registry, so that
// no pod runs a private image that another pod's secret brought to the node.
type AlwaysPullImages struct{}

// Name of the plugin.
func (*AlwaysPullImages) Name() string { return "AlwaysPullImages" }

// Admit overrules the pod's pull policies.
func (*AlwaysPullImages) Admit(_ context.Context, a *Attributes) error {
	if (a.Verb != Create && a.Verb != Update) || !a.is(group("", "pods")) {
		return nil
	}
	spec := &a.Object.(*corev1.Pod).Spec
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			containers[i].ImagePullPolicy = corev1.PullAlways
		}
	}
	return nil
}
