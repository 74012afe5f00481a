package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	resources "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

const (
	countPrefix         = "count/"
	requestsPrefix      = corev1.DefaultResourceRequestsPrefix
	limitsPrefix        = "limits."
	storageClassInfix   = ".storageclass.storage.k8s.io/"
	requestsStorageName = "requests.storage"
)

// countName is what quotas call the number of objects of any kind.
func countName(a *Attributes) corev1.ResourceName {
	return corev1.ResourceName(countPrefix + a.GVR.GroupResource().String())
}

// countedNames are the resources of a quota that this kind of object uses.
func countedNames(a *Attributes, hard corev1.ResourceList) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		if counts(a, name) {
			names = append(names, name)
		}
	}
	return names
}

func counts(a *Attributes, name corev1.ResourceName) bool {
	switch a.Object.(type) {
	case *corev1.Pod:
		return a.Verb == Create && (name == countName(a) || isPodResource(name))
	case *corev1.Service:
		switch name {
		case countName(a), corev1.ResourceServices, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers:
			return true
		}
		return false
	case *corev1.PersistentVolumeClaim:
		return name == countName(a) || name == corev1.ResourcePersistentVolumeClaims || name == requestsStorageName ||
			strings.Contains(string(name), storageClassInfix)
	}
	return a.Verb == Create && (name == countName(a) || isOldCount(a, name))
}

// isOldCount: some core kinds could be counted before all could.
func isOldCount(a *Attributes, name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceConfigMaps, corev1.ResourceSecrets, corev1.ResourceQuotas, corev1.ResourceReplicationControllers:
		return a.GVR.Group == "" && a.GVR.Resource == string(name)
	}
	return false
}

func isPodResource(name corev1.ResourceName) bool {
	if name == corev1.ResourcePods {
		return true
	}
	base := corev1.ResourceName(strings.TrimPrefix(strings.TrimPrefix(string(name), requestsPrefix), limitsPrefix))
	switch {
	case isCompute(base), strings.HasPrefix(string(base), corev1.ResourceHugePagesPrefix):
		return true
	}
	return strings.HasPrefix(string(name), requestsPrefix) && isExtended(base)
}

func isCompute(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// isExtended: resources with a domain that is not Kubernetes' own.
func isExtended(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// usage is what an object uses of everything that can be counted.
func usage(a *Attributes, obj runtime.Object) corev1.ResourceList {
	one := resource.MustParse("1")
	used := corev1.ResourceList{countName(a): one}
	switch o := obj.(type) {
	case *corev1.Pod:
		addPod(used, o)
	case *corev1.Service:
		addService(used, o)
	case *corev1.PersistentVolumeClaim:
		addClaim(used, o)
	default:
		if name := corev1.ResourceName(a.GVR.Resource); isOldCount(a, name) {
			used[name] = one
		}
	}
	return used
}

func addPod(used corev1.ResourceList, pod *corev1.Pod) {
	maps.Copy(used, compute(resources.PodRequests(pod, resources.PodResourcesOptions{}), resources.PodLimits(pod, resources.PodResourcesOptions{})))
	used[corev1.ResourcePods] = resource.MustParse("1")
}

// compute names requests and limits as quotas do: a request both plain and with
// its prefix, a limit with prefix alone.
func compute(requests, limits corev1.ResourceList) corev1.ResourceList {
	used := corev1.ResourceList{}
	for name, quantity := range requests {
		isHugePage := strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		if isCompute(name) || isHugePage {
			used[name] = quantity
		}
		if isCompute(name) || isHugePage || isExtended(name) {
			used[requestsPrefix+name] = quantity
		}
	}
	for name, quantity := range limits {
		if isCompute(name) {
			used[limitsPrefix+name] = quantity
		}
	}
	return used
}

func addService(used corev1.ResourceList, service *corev1.Service) {
	used[corev1.ResourceServices] = resource.MustParse("1")
	ports := len(service.Spec.Ports)
	switch service.Spec.Type {
	case corev1.ServiceTypeNodePort:
	case corev1.ServiceTypeLoadBalancer:
		used[corev1.ResourceServicesLoadBalancers] = resource.MustParse("1")
		if !ptr.Deref(service.Spec.AllocateLoadBalancerNodePorts, true) {
			ports = 0
			for _, port := range service.Spec.Ports {
				if port.NodePort != 0 {
					ports++
				}
			}
		}
	default:
		return
	}
	used[corev1.ResourceServicesNodePorts] = *resource.NewQuantity(int64(ports), resource.DecimalSI)
}

func addClaim(used corev1.ResourceList, claim *corev1.PersistentVolumeClaim) {
	used[corev1.ResourcePersistentVolumeClaims] = resource.MustParse("1")
	class := storageClass(claim)
	if class != "" {
		used[corev1.ResourceName(class+storageClassInfix)+corev1.ResourcePersistentVolumeClaims] = resource.MustParse("1")
	}
	request, ok := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if !ok {
		return
	}
	// A claim that shrinks again keeps what is allocated to it.
	if allocated := claim.Status.AllocatedResources[corev1.ResourceStorage]; allocated.Cmp(request) > 0 {
		request = allocated
	}
	used[requestsStorageName] = request
	if class != "" {
		used[corev1.ResourceName(class+storageClassInfix)+requestsStorageName] = request
	}
}

// stated refuses a pod with containers that do not state what a quota counts:
// their use would be unbounded.
func stated(a *Attributes, counted []corev1.ResourceName) error {
	pod, ok := a.Object.(*corev1.Pod)
	if !ok {
		return nil
	}
	silent := map[corev1.ResourceName]sets.Set[string]{}
	if r := pod.Spec.Resources; r != nil {
		counted = missing(compute(r.Requests, r.Limits), counted) // stated for all of them
	}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			has := compute(containers[i].Resources.Requests, containers[i].Resources.Limits)
			for _, name := range missing(has, counted) {
				if mustState(name) {
					silent[name] = silent[name].Union(sets.New(containers[i].Name))
				}
			}
		}
	}
	if len(silent) == 0 {
		return nil
	}
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(silent)) {
		faults = append(faults, fmt.Sprintf("%s for: %s", name, strings.Join(sets.List(silent[name]), ",")))
	}
	return fmt.Errorf("must specify %s", strings.Join(faults, "; "))
}

func mustState(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory:
		return true
	}
	return false
}
