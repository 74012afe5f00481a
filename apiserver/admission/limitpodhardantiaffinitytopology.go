package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// LimitPodHardAntiAffinityTopology keeps one pod from having a whole zone for itself.
type LimitPodHardAntiAffinityTopology struct{}

// Name of the plugin.
func (*LimitPodHardAntiAffinityTopology) Name() string { return "LimitPodHardAntiAffinityTopology" }

// Validate refuses required anti-affinity over more than a node.
func (*LimitPodHardAntiAffinityTopology) Validate(_ context.Context, a *Attributes) error {
	if (a.Verb != Create && a.Verb != Update) || !a.is(group("", "pods")) {
		return nil
	}
	affinity := a.Object.(*corev1.Pod).Spec.Affinity
	if affinity == nil || affinity.PodAntiAffinity == nil {
		return nil
	}
	for _, term := range affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.TopologyKey != corev1.LabelHostname {
			return forbidden(a, fmt.Errorf("affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey %v but only key %v is allowed", term.TopologyKey, corev1.LabelHostname))
		}
	}
	return nil
}
