package strategy

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// qosClass tells how a pod fares when its node runs short. It is Guaranteed if
// CPU and memory are limited everywhere to what is requested, BestEffort if
// neither is mentioned, else Burstable. Resources stated for the whole pod count
// in place of the containers'.
func qosClass(spec *corev1.PodSpec) corev1.PodQOSClass {
	isBestEffort, isGuaranteed := true, true
	look := func(r corev1.ResourceRequirements) {
		if mentions(r.Requests) || mentions(r.Limits) {
			isBestEffort = false
		}
		if !limitsBoth(r) {
			isGuaranteed = false
		}
	}
	if r := spec.Resources; r != nil && (mentions(r.Requests) || mentions(r.Limits)) {
		look(*r)
	} else {
		for i := range spec.InitContainers {
			look(spec.InitContainers[i].Resources)
		}
		for i := range spec.Containers {
			look(spec.Containers[i].Resources)
		}
	}
	switch {
	case isBestEffort:
		return corev1.PodQOSBestEffort
	case isGuaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

func mentions(list corev1.ResourceList) bool {
	return positive(list, corev1.ResourceCPU) || positive(list, corev1.ResourceMemory)
}

func positive(list corev1.ResourceList, name corev1.ResourceName) bool {
	quantity, ok := list[name]
	return ok && quantity.Sign() > 0
}

// limitsBoth: both limits are there and, where there are requests, equal to them.
func limitsBoth(r corev1.ResourceRequirements) bool {
	return limitsTo(r, corev1.ResourceCPU) && limitsTo(r, corev1.ResourceMemory)
}

func limitsTo(r corev1.ResourceRequirements, name corev1.ResourceName) bool {
	var limit, request resource.Quantity = r.Limits[name], r.Requests[name]
	return positive(r.Limits, name) && (request.IsZero() || request.Cmp(limit) == 0)
}
