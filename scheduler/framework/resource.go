package framework

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// A container without requests still counts this much when nodes are scored,
// lest all of them pile up on one node.
const (
	DefaultMilliCPURequest int64 = 100               // 0.1 core
	DefaultMemoryRequest   int64 = 200 * 1024 * 1024 // 200 MiB
)

// Resource is a v1.ResourceList in plain integers: milli-cores, bytes, pods.
type Resource struct {
	MilliCPU         int64
	Memory           int64
	EphemeralStorage int64
	Pods             int
	Scalar           map[v1.ResourceName]int64 // extended resources, hugepages; nil when none
}

// NewResource converts a list.
func NewResource(list v1.ResourceList) Resource {
	var r Resource
	for name, quantity := range list {
		switch name {
		case v1.ResourceCPU:
			r.MilliCPU = quantity.MilliValue()
		case v1.ResourceMemory:
			r.Memory = quantity.Value()
		case v1.ResourceEphemeralStorage:
			r.EphemeralStorage = quantity.Value()
		case v1.ResourcePods:
			r.Pods = int(quantity.Value())
		default:
			if r.Scalar == nil {
				r.Scalar = map[v1.ResourceName]int64{}
			}
			r.Scalar[name] = quantity.Value()
		}
	}
	return r
}

// add adds sign times o, without o.Pods: pods are counted, not requested.
func (r *Resource) add(o *Resource, sign int64) {
	r.MilliCPU += sign * o.MilliCPU
	r.Memory += sign * o.Memory
	r.EphemeralStorage += sign * o.EphemeralStorage
	for name, quantity := range o.Scalar {
		if r.Scalar == nil {
			r.Scalar = map[v1.ResourceName]int64{}
		}
		r.Scalar[name] += sign * quantity
	}
}

// Get returns the amount of one resource in its unit.
func (r *Resource) Get(name v1.ResourceName) int64 {
	switch name {
	case v1.ResourceCPU:
		return r.MilliCPU
	case v1.ResourceMemory:
		return r.Memory
	case v1.ResourceEphemeralStorage:
		return r.EphemeralStorage
	case v1.ResourcePods:
		return int64(r.Pods)
	}
	return r.Scalar[name]
}

// PodRequests is what a pod takes of a node by its specification: the larger of its
// containers together and of its largest init container, sidecars added to
// both, then overhead; pod-level requests replace the sum.
func PodRequests(pod *v1.Pod) Resource {
	return NewResource(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
}

// podUsage is what a pod on a node takes: as PodRequests, but a resize in
// progress counts with the larger of the desired and the allocated amount.
func podUsage(pod *v1.Pod) Resource {
	return NewResource(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		UseStatusResources: true,
		InPlacePodLevelResourcesVerticalScalingEnabled: true,
	}))
}

// podNonZeroUsage counts containers without requests with the defaults above.
func podNonZeroUsage(pod *v1.Pod) Resource {
	return NewResource(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		UseStatusResources: true,
		InPlacePodLevelResourcesVerticalScalingEnabled: true,
		NonMissingContainerRequests: v1.ResourceList{
			v1.ResourceCPU:    *resource.NewMilliQuantity(DefaultMilliCPURequest, resource.DecimalSI),
			v1.ResourceMemory: *resource.NewQuantity(DefaultMemoryRequest, resource.DecimalSI),
		},
	}))
}
