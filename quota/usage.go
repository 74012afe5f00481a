package quota

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	resources "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/storage/volume"
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
func countName(gr schema.GroupResource) corev1.ResourceName {
	return corev1.ResourceName(countPrefix + gr.String())
}

// CountOf is the kind that a quota's resource counts the objects of, if it is
// called count/<resource>.<group>.
func CountOf(name corev1.ResourceName) (schema.GroupResource, bool) {
	counted, found := strings.CutPrefix(string(name), countPrefix)
	if !found {
		return schema.GroupResource{}, false
	}
	return schema.ParseGroupResource(counted), true
}

// Counted are the resources of a quota that objects of a kind use, in order.
func Counted(gr schema.GroupResource, hard corev1.ResourceList) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		if counts(gr, name) {
			names = append(names, name)
		}
	}
	return names
}

func counts(gr schema.GroupResource, name corev1.ResourceName) bool {
	if name == countName(gr) {
		return true
	}
	switch gr {
	case corev1.Resource("pods"):
		return isPodResource(name)
	case corev1.Resource("services"):
		return name == corev1.ResourceServices || name == corev1.ResourceServicesNodePorts || name == corev1.ResourceServicesLoadBalancers
	case corev1.Resource("persistentvolumeclaims"):
		return name == corev1.ResourcePersistentVolumeClaims || name == requestsStorageName || strings.Contains(string(name), storageClassInfix)
	}
	return isOldCount(gr, name)
}

// isOldCount: some core kinds could be counted before all could.
func isOldCount(gr schema.GroupResource, name corev1.ResourceName) bool {
	return gr.Group == "" && gr.Resource == string(name) && slices.Contains(OldCounts(), name)
}

// OldCounts are core kinds that quotas also count by their plain names.
func OldCounts() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceConfigMaps, corev1.ResourceSecrets, corev1.ResourceQuotas, corev1.ResourceReplicationControllers}
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

// Usage is what an object of a kind uses of everything that can be counted.
func Usage(gr schema.GroupResource, obj runtime.Object) corev1.ResourceList {
	one := resource.MustParse("1")
	used := corev1.ResourceList{countName(gr): one}
	switch o := obj.(type) {
	case *corev1.Pod:
		addPod(used, o)
	case *corev1.Service:
		addService(used, o)
	case *corev1.PersistentVolumeClaim:
		addClaim(used, o)
	default:
		if name := corev1.ResourceName(gr.Resource); isOldCount(gr, name) {
			used[name] = one
		}
	}
	return used
}

func addPod(used corev1.ResourceList, pod *corev1.Pod) {
	maps.Copy(used, Compute(resources.PodRequests(pod, resources.PodResourcesOptions{}), resources.PodLimits(pod, resources.PodResourcesOptions{})))
	used[corev1.ResourcePods] = resource.MustParse("1")
}

// Compute names requests and limits as quotas do: a request both plain and with
// its prefix, a limit with prefix alone.
func Compute(requests, limits corev1.ResourceList) corev1.ResourceList {
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
	class := volume.GetPersistentVolumeClaimClass(claim)
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

// Charges tells whether a pod still uses anything but its own count: not when
// it has finished, nor when it should have been gone by now.
func Charges(pod *corev1.Pod, now time.Time) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return true
	}
	grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	return !now.After(pod.DeletionTimestamp.Add(grace))
}

// Total is what the pods, services or claims of a namespace use of a quota's
// resources, those out of its scopes left out. What is not used is there, as zero.
func Total[T runtime.Object](gr schema.GroupResource, objs []T, spec *corev1.ResourceQuotaSpec, now time.Time) corev1.ResourceList {
	total := corev1.ResourceList{}
	for _, name := range Counted(gr, spec.Hard) {
		total[name] = resource.Quantity{Format: resource.DecimalSI}
	}
	for _, obj := range objs {
		if !InScopes(obj, spec) {
			continue
		}
		used := Usage(gr, obj)
		if pod, ok := runtime.Object(obj).(*corev1.Pod); ok && !Charges(pod, now) {
			used = Mask(used, corev1.ResourceList{countName(gr): {}})
		}
		total = Sum(total, Mask(used, total))
	}
	return total
}
