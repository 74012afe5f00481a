package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// InScopes tells whether all scopes of a quota cover the object. Scopes cover
// pods, and claims by their attributes class; a quota with another scope counts
// nothing else.
func InScopes(obj runtime.Object, spec *corev1.ResourceQuotaSpec) bool {
	for _, scope := range spec.Scopes {
		if !inScope(obj, corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}) {
			return false
		}
	}
	if spec.ScopeSelector == nil {
		return true
	}
	for _, requirement := range spec.ScopeSelector.MatchExpressions {
		if !inScope(obj, requirement) {
			return false
		}
	}
	return true
}

func inScope(obj runtime.Object, requirement corev1.ScopedResourceSelectorRequirement) bool {
	switch obj := obj.(type) {
	case *corev1.Pod:
		return podInScope(obj, requirement)
	case *corev1.PersistentVolumeClaim:
		if requirement.ScopeName == corev1.ResourceQuotaScopeVolumeAttributesClass {
			class := ""
			if obj.Spec.VolumeAttributesClassName != nil {
				class = *obj.Spec.VolumeAttributesClassName
			}
			return selects(requirement, class)
		}
	}
	return false
}

func podInScope(pod *corev1.Pod, requirement corev1.ScopedResourceSelectorRequirement) bool {
	isTerminating := pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds >= 0
	isBestEffort := pod.Status.QOSClass == corev1.PodQOSBestEffort
	switch requirement.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return isTerminating
	case corev1.ResourceQuotaScopeNotTerminating:
		return !isTerminating
	case corev1.ResourceQuotaScopeBestEffort:
		return isBestEffort
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !isBestEffort
	case corev1.ResourceQuotaScopePriorityClass:
		return selects(requirement, pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return crossesNamespaces(pod.Spec.Affinity)
	}
	return false
}

// selects compares a name, empty if there is none, with a requirement.
func selects(requirement corev1.ScopedResourceSelectorRequirement, name string) bool {
	switch requirement.Operator {
	case corev1.ScopeSelectorOpExists:
		return name != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return name == ""
	case corev1.ScopeSelectorOpIn:
		return name != "" && slices.Contains(requirement.Values, name)
	case corev1.ScopeSelectorOpNotIn:
		return !slices.Contains(requirement.Values, name)
	}
	return false
}

// crossesNamespaces: some term looks at pods of other namespaces.
func crossesNamespaces(affinity *corev1.Affinity) bool {
	if affinity == nil {
		return false
	}
	crosses := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) bool {
		isOutward := func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil }
		return slices.ContainsFunc(required, isOutward) ||
			slices.ContainsFunc(preferred, func(w corev1.WeightedPodAffinityTerm) bool { return isOutward(w.PodAffinityTerm) })
	}
	a, b := affinity.PodAffinity, affinity.PodAntiAffinity
	return a != nil && crosses(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution) ||
		b != nil && crosses(b.RequiredDuringSchedulingIgnoredDuringExecution, b.PreferredDuringSchedulingIgnoredDuringExecution)
}
