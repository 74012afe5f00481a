package admission

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ExtendedResourceToleration lets pods that ask for special devices, and no others,
// onto nodes that are tainted with the names of these devices.
type ExtendedResourceToleration struct{}

// Name of the plugin.
func (*ExtendedResourceToleration) Name() string { return "ExtendedResourceToleration" }

// Admit adds a toleration for each extended resource, in the order of their names.
func (*ExtendedResourceToleration) Admit(_ context.Context, a *Attributes) error {
	if (a.Verb != Create && a.Verb != Update) || !a.is(group("", "pods")) {
		return nil
	}
	spec := &a.Object.(*corev1.Pod).Spec
	var names []string
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for name := range c.Resources.Requests {
			if isExtended(name) && !slices.Contains(names, string(name)) {
				names = append(names, string(name))
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		wanted := corev1.Toleration{Key: name, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
		if !slices.ContainsFunc(spec.Tolerations, func(t corev1.Toleration) bool { return t.MatchToleration(&wanted) }) {
			spec.Tolerations = append(spec.Tolerations, wanted)
		}
	}
	return nil
}

// isExtended tells the resources that are not Kubernetes' own.
func isExtended(name corev1.ResourceName) bool {
	domain, _, qualified := strings.Cut(string(name), "/")
	return qualified && !strings.Contains(domain+"/", corev1.ResourceDefaultNamespacePrefix) && !strings.HasPrefix(domain, corev1.DefaultResourceRequestsPrefix)
}
