package strategy

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pod starts a new pod's status, and resolves what it says in terms of its own
// labels.
func Pod(pod, old *corev1.Pod) {
	dropAlpha(&pod.Spec)
	if old != nil {
		count(pod, old, old.Spec, pod.Spec)
		return
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(&pod.Spec)}
	if len(pod.Spec.SchedulingGates) > 0 {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type:    corev1.PodScheduled,
			Status:  corev1.ConditionFalse,
			Reason:  corev1.PodReasonSchedulingGated,
			Message: "Scheduling is blocked due to non-empty scheduling gates",

			LastTransitionTime: pod.CreationTimestamp,
		}}
	}
	resolveLabelKeys(pod)
	appArmorFields(pod)
}

// PodStatus keeps what a kubelet that does not know of it leaves out.
func PodStatus(pod, old *corev1.Pod) {
	pod.OwnerReferences = old.OwnerReferences
	if pod.Status.QOSClass == "" {
		pod.Status.QOSClass = old.Status.QOSClass
	}
	if pod.Status.ObservedGeneration == 0 {
		pod.Status.ObservedGeneration = old.Status.ObservedGeneration
	}
	seen := map[corev1.PodConditionType]int64{}
	for _, c := range old.Status.Conditions {
		seen[c.Type] = c.ObservedGeneration
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.ObservedGeneration == 0 {
			c.ObservedGeneration = seen[c.Type]
		}
	}
	syncPodIPs(&pod.Status)
}

// syncPodIPs keeps the single address and the list in step, as both are on the wire.
func syncPodIPs(status *corev1.PodStatus) {
	switch {
	case status.PodIP != "" && (len(status.PodIPs) == 0 || status.PodIPs[0].IP != status.PodIP):
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	case status.PodIP == "" && len(status.PodIPs) > 0:
		status.PodIP = status.PodIPs[0].IP
	}
}

// PodEphemeralContainers lets a write to ephemeralcontainers change those alone.
func PodEphemeralContainers(pod, old *corev1.Pod) {
	containers := pod.Spec.EphemeralContainers
	pod.Spec, pod.Status = *old.Spec.DeepCopy(), *old.Status.DeepCopy()
	pod.Spec.EphemeralContainers = containers
	dropAlpha(&pod.Spec)
	MetaForStatus(pod, old)
	count(pod, old, old.Spec, pod.Spec)
}

// PodResize lets a write to resize change resources and their policies alone. A
// pod whose containers do not match is left for validation to refuse.
func PodResize(pod, old *corev1.Pod) {
	containers, ok := resized(pod.Spec.Containers, old.Spec.Containers)
	initContainers, initOK := resized(pod.Spec.InitContainers, old.Spec.InitContainers)
	if ok && initOK {
		resources := pod.Spec.Resources
		pod.Spec, pod.Status = *old.Spec.DeepCopy(), *old.Status.DeepCopy()
		pod.Spec.Containers, pod.Spec.InitContainers, pod.Spec.Resources = containers, initContainers, resources
		MetaForStatus(pod, old)
	}
	count(pod, old, old.Spec, pod.Spec)
}

func resized(containers, old []corev1.Container) ([]corev1.Container, bool) {
	if len(containers) != len(old) {
		return nil, false
	}
	var merged []corev1.Container
	for i := range containers {
		if containers[i].Name != old[i].Name {
			return nil, false
		}
		c := *old[i].DeepCopy()
		c.Resources, c.ResizePolicy = containers[i].Resources, containers[i].ResizePolicy
		merged = append(merged, c)
	}
	return merged, true
}

// resolveLabelKeys turns matchLabelKeys and mismatchLabelKeys into requirements
// on the pod's own values, which then cannot change any more.
func resolveLabelKeys(pod *corev1.Pod) {
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		require(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
	}
	for _, term := range affinityTerms(pod.Spec.Affinity) {
		require(term.LabelSelector, term.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
		require(term.LabelSelector, term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, pod.Labels)
	}
}

func require(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator, labels map[string]string) {
	if selector == nil {
		return // matches nothing, whatever is added
	}
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			selector.MatchExpressions = append(selector.MatchExpressions,
				metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
		}
	}
}

// affinityTerms are all terms on other pods, wherever they stand.
func affinityTerms(affinity *corev1.Affinity) []*corev1.PodAffinityTerm {
	var terms []*corev1.PodAffinityTerm
	add := func(preferred []corev1.WeightedPodAffinityTerm, required []corev1.PodAffinityTerm) {
		for i := range preferred {
			terms = append(terms, &preferred[i].PodAffinityTerm)
		}
		for i := range required {
			terms = append(terms, &required[i])
		}
	}
	if affinity != nil && affinity.PodAffinity != nil {
		a := affinity.PodAffinity
		add(a.PreferredDuringSchedulingIgnoredDuringExecution, a.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if affinity != nil && affinity.PodAntiAffinity != nil {
		a := affinity.PodAntiAffinity
		add(a.PreferredDuringSchedulingIgnoredDuringExecution, a.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return terms
}
