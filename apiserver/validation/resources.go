package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"
)

var (
	// containerResources are what a container may ask for under a plain name.
	containerResources = sets.New(corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage)

	// quotaResources are what a quota may count under a plain name.
	quotaResources = sets.New(
		corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsStorage, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
		corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
		corev1.ResourceSecrets, corev1.ResourcePersistentVolumeClaims, corev1.ResourceConfigMaps,
		corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers)

	// countedResources come in whole numbers.
	countedResources = sets.New(corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices,
		corev1.ResourceReplicationControllers, corev1.ResourceSecrets, corev1.ResourceConfigMaps,
		corev1.ResourcePersistentVolumeClaims, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers)

	standardResources = quotaResources.Union(sets.New(corev1.ResourceStorage))
)

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func isHugePagesQuota(name corev1.ResourceName) bool {
	return isHugePages(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

// isNative tells the resources that Kubernetes itself defines.
func isNative(name corev1.ResourceName) bool {
	return !prefixed(name) || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// isExtended tells the resources that device plugins and the like advertise.
func isExtended(name corev1.ResourceName) bool {
	if isNative(name) || strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) {
		return false
	}
	return len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// overcommits tells the resources of which a node may promise more than it has.
func overcommits(name corev1.ResourceName) bool { return isNative(name) && !isHugePages(name) }

func resourceName(name corev1.ResourceName, p *field.Path) field.ErrorList {
	if errs := invalids(name, p, validation.IsQualifiedName(string(name))); len(errs) > 0 {
		return errs
	}
	standard := standardResources.Has(name) || isHugePagesQuota(name)
	return refuse(!prefixed(name) && !standard, field.Invalid(p, name, "must be a standard resource type or fully qualified"))
}

func containerResourceName(name corev1.ResourceName, p *field.Path) field.ErrorList {
	errs := resourceName(name, p)
	if !prefixed(name) {
		return append(errs, refuse(!containerResources.Has(name) && !isHugePages(name),
			field.Invalid(p, name, "must be a standard resource for containers"))...)
	}
	return append(errs, refuse(!isNative(name) && !isExtended(name),
		field.Invalid(p, name, "doesn't follow extended resource name standard"))...)
}

func podResourceName(name corev1.ResourceName, p *field.Path) field.ErrorList {
	if errs := resourceName(name, p); len(errs) > 0 {
		return errs
	}
	return refuse(!resourcehelper.IsSupportedPodLevelResource(name),
		field.NotSupported(p, name, sets.List(resourcehelper.SupportedPodLevelResources())))
}

// resourceQuantity is not negative, and whole for what cannot be divided.
func resourceQuantity(name corev1.ResourceName, q resource.Quantity, p *field.Path) field.ErrorList {
	whole := countedResources.Has(name) || isExtended(name)
	return concat(nonNegativeQuantity(q, p),
		refuse(whole && q.MilliValue()%1000 != 0, field.Invalid(p, q, notAnInteger)))
}

// resources holds the rules of requests, limits and claims; nameRule says which
// resources may be named.
func resources(r *corev1.ResourceRequirements, nameRule func(corev1.ResourceName, *field.Path) field.ErrorList, claims sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	computes, hugePages := false, false
	one := func(name corev1.ResourceName, q resource.Quantity, p *field.Path) {
		errs = append(errs, concat(nameRule(name, p), resourceQuantity(name, q, p))...)
		computes = computes || name == corev1.ResourceCPU || name == corev1.ResourceMemory
		hugePages = hugePages || isHugePages(name)
	}
	for _, name := range sortedKeys(r.Limits) {
		at := p.Child("limits").Key(string(name))
		one(name, r.Limits[name], at)
		errs = append(errs, wholeHugePages(name, r.Limits[name], at)...)
	}
	for _, name := range sortedKeys(r.Requests) {
		at := p.Child("requests").Key(string(name))
		one(name, r.Requests[name], at)
		errs = append(errs, concat(withinLimit(r, name, p), wholeHugePages(name, r.Requests[name], at))...)
	}
	return concat(errs,
		refuse(hugePages && !computes, field.Forbidden(p, "HugePages require cpu or memory")),
		claimReferences(r.Claims, claims, p.Child("claims")))
}

func wholeHugePages(name corev1.ResourceName, q resource.Quantity, p *field.Path) field.ErrorList {
	if !isHugePages(name) {
		return nil
	}
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	whole := err == nil && size.Sign() > 0 && size.MilliValue()%1000 == 0 && q.Value()%size.Value() == 0
	return refuse(!whole, field.Invalid(p, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name)))
}

func withinLimit(r *corev1.ResourceRequirements, name corev1.ResourceName, p *field.Path) field.ErrorList {
	request := r.Requests[name]
	limit, limited := r.Limits[name]
	at := p.Child("requests")
	switch {
	case !limited:
		return refuse(!overcommits(name), field.Required(p.Child("limits"), "Limit must be set for non overcommitable resources"))
	case !overcommits(name):
		return refuse(request.Cmp(limit) != 0, field.Invalid(at, request.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
	}
	return refuse(request.Cmp(limit) > 0, field.Invalid(at, request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
}

// claimReferences checks that a container names claims of its pod, each once: a
// whole claim, or some of its requests.
func claimReferences(refs []corev1.ResourceClaim, claims sets.Set[string], p *field.Path) field.ErrorList {
	seen := sets.New[string]()
	return each(refs, p, func(ref *corev1.ResourceClaim, p *field.Path) field.ErrorList {
		if ref.Name == "" {
			return field.ErrorList{field.Required(p, "")}
		}
		errs := repeatedClaim(ref, seen, p)
		if !claims.Has(ref.Name) {
			err := field.NotFound(p, ref.Name)
			err.Detail = "must be one of the names in pod.spec.resourceClaims"
			if claims.Len() == 0 {
				err.Detail += " which is empty"
			} else {
				err.Detail += ": " + strings.Join(sets.List(claims), ", ")
			}
			errs = append(errs, err)
		}
		return errs
	})
}

func repeatedClaim(ref *corev1.ResourceClaim, seen sets.Set[string], p *field.Path) field.ErrorList {
	if seen.Has(ref.Name) {
		return field.ErrorList{field.Duplicate(p, ref.Name)}
	}
	var errs field.ErrorList
	key := ref.Name
	if ref.Request != "" {
		errs = dnsLabel(ref.Request, p.Child("request"))
		key += "/" + ref.Request
	}
	if seen.Has(key) {
		errs = append(errs, field.Duplicate(p, key))
	} else if ref.Request == "" {
		for earlier := range seen {
			errs = append(errs, refuse(strings.HasPrefix(earlier, ref.Name+"/"), field.Duplicate(p, ref.Name))...)
		}
	}
	seen.Insert(key)
	return errs
}

// podResources checks what a pod asks for as a whole against its containers.
func (c *podContext) podResources(p *field.Path) field.ErrorList {
	r := c.spec.Resources
	if r == nil {
		return nil
	}
	errs := concat(refuse(r.Claims != nil, field.Forbidden(p.Child("claims"), "claims cannot be set for Resources at pod-level")),
		resources(r, podResourceName, c.claims, p))
	inAll := resourcehelper.AggregateContainerRequests(&corev1.Pod{Spec: *c.spec}, resourcehelper.PodResourcesOptions{})
	for _, name := range sortedKeys(inAll) {
		sum, own := inAll[name], r.Requests[name]
		if !resourcehelper.IsSupportedPodLevelResource(name) {
			continue
		}
		errs = append(errs, refuse(sum.Cmp(own) > 0, field.Invalid(p.Child("requests").Key(string(name)), own.String(),
			"must be greater than or equal to aggregate container requests of "+sum.String()))...)
	}
	for i, ct := range c.spec.Containers {
		for _, name := range sortedKeys(ct.Resources.Limits) {
			limit := ct.Resources.Limits[name]
			own, limited := r.Limits[name]
			errs = append(errs, refuse(limited && limit.Cmp(own) > 0,
				field.Invalid(p.Child("containers").Index(i).Key(string(name)).Child("limits"), limit.String(),
					"must be less than or equal to pod limits of "+own.String()))...)
		}
	}
	return errs
}

// overhead is checked as the limits of a container.
func overhead(list corev1.ResourceList, p *field.Path) field.ErrorList {
	return resources(&corev1.ResourceRequirements{Limits: list}, containerResourceName, nil, p)
}
