package defaults

import (
	corev1 "k8s.io/api/core/v1"
	resources "k8s.io/component-helpers/resource"
)

// podResources completes requests and limits that are stated for the pod as a
// whole (KEP-2837). Containers must have theirs already. A pod that states
// neither gets neither.
func podResources(pod *corev1.Pod) {
	if pod.Spec.Resources == nil {
		return
	}
	hugePageLimits(pod)
	podRequests(pod)
	podLimits(pod)
}

// hugePageLimits sums up the containers' huge pages unless the pod requests its own.
func hugePageLimits(pod *corev1.Pod) {
	own := pod.Spec.Resources
	if len(own.Limits) == 0 && len(own.Requests) == 0 {
		return
	}
	sum := resources.AggregateContainerLimits(pod, resources.PodResourcesOptions{})
	own.Limits = addSelected(own.Limits, sum, func(name corev1.ResourceName) bool {
		_, requested := own.Requests[name]
		return isHugePage(name) && !requested
	})
}

// podRequests takes what the containers request in sum, else the pod's limit.
func podRequests(pod *corev1.Pod) {
	own := pod.Spec.Resources
	if len(own.Limits) == 0 {
		return
	}
	sum := resources.AggregateContainerRequests(pod, resources.PodResourcesOptions{})
	own.Requests = addSelected(own.Requests, sum, overcommitAllowed)
	own.Requests = addSelected(own.Requests, own.Limits, func(corev1.ResourceName) bool { return true })
}

// podLimits sums up the containers' limits if the pod has requests but no limits,
// for the resources that every container limits.
func podLimits(pod *corev1.Pod) {
	own := pod.Spec.Resources
	if resources.IsPodLevelLimitsSet(pod) || !resources.IsPodLevelRequestsSet(pod) {
		return
	}
	sum := resources.AggregateContainerLimits(pod, resources.PodResourcesOptions{})
	own.Limits = addSelected(own.Limits, sum, func(name corev1.ResourceName) bool {
		return overcommitAllowed(name) && everyContainerLimits(&pod.Spec, name)
	})
}

func everyContainerLimits(spec *corev1.PodSpec, name corev1.ResourceName) bool {
	every := true
	eachContainer(spec, func(c *corev1.Container) {
		if _, ok := c.Resources.Limits[name]; !ok {
			every = false
		}
	})
	return every
}

// addSelected copies the chosen resources that may be stated for a pod. A list
// that stays empty stays nil.
func addSelected(list, from corev1.ResourceList, chosen func(corev1.ResourceName) bool) corev1.ResourceList {
	selected := corev1.ResourceList{}
	for name, quantity := range from {
		if resources.IsSupportedPodLevelResource(name) && chosen(name) {
			selected[name] = quantity
		}
	}
	if len(selected) == 0 {
		return list
	}
	return addMissing(list, selected)
}
