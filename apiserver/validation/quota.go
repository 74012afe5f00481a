package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	quotaScopes = sets.New(corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeBestEffort,
		corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity,
		corev1.ResourceQuotaScopeVolumeAttributesClass)

	// podQuotaResources are what scopes that select pods can limit.
	podQuotaResources = sets.New(corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceLimitsCPU,
		corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory)
)

// ResourceQuota holds the rules of core/v1 ResourceQuotas.
func ResourceQuota(q, old *corev1.ResourceQuota) field.ErrorList {
	spec, status := field.NewPath("spec"), field.NewPath("status")
	if old == nil {
		return concat(metaCreate(&q.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain), quotaSpec(&q.Spec, spec), quotaStatus(&q.Status, status))
	}
	same := sets.New(q.Spec.Scopes...).Equal(sets.New(old.Spec.Scopes...))
	return concat(metaUpdate(&q.ObjectMeta, &old.ObjectMeta), quotaSpec(&q.Spec, spec),
		refuse(!same, field.Invalid(spec.Child("scopes"), q.Spec.Scopes, immutable)))
}

// ResourceQuotaStatus holds the rules of a write to resourcequotas/status.
func ResourceQuotaStatus(q, old *corev1.ResourceQuota) field.ErrorList {
	return append(metaUpdate(&q.ObjectMeta, &old.ObjectMeta), quotaStatus(&q.Status, field.NewPath("status"))...)
}

func quotaStatus(s *corev1.ResourceQuotaStatus, p *field.Path) field.ErrorList {
	return concat(quotaList(s.Hard, p.Child("hard")), quotaList(s.Used, p.Child("used")))
}

func quotaList(list corev1.ResourceList, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedKeys(list) {
		at := p.Key(string(name))
		errs = append(errs, concat(quotaResourceName(name, at), resourceQuantity(name, list[name], at))...)
	}
	return errs
}

func quotaResourceName(name corev1.ResourceName, p *field.Path) field.ErrorList {
	return append(resourceName(name, p), refuse(!prefixed(name) && !standardQuota(name),
		field.Invalid(p, name, "must be a standard resource for quota"))...)
}

func standardQuota(name corev1.ResourceName) bool {
	return quotaResources.Has(name) || isHugePagesQuota(name)
}

func quotaSpec(s *corev1.ResourceQuotaSpec, p *field.Path) field.ErrorList {
	errs := quotaList(s.Hard, p.Child("hard"))
	at := p.Child("scopes")
	for _, scope := range s.Scopes {
		errs = append(errs, refuse(!quotaScopes.Has(scope), field.Invalid(at, s.Scopes, "unsupported scope"))...)
		errs = append(errs, unscoped(s, scope, field.Invalid(at, s.Scopes, "unsupported scope applied to resource"))...)
	}
	errs = append(errs, conflictingScopes(s, s.Scopes, at)...)
	if s.ScopeSelector == nil {
		return errs
	}
	at = p.Child("scopeSelector", "matchExpressions")
	var selected []corev1.ResourceQuotaScope
	for i := range s.ScopeSelector.MatchExpressions {
		r := &s.ScopeSelector.MatchExpressions[i]
		selected = append(selected, r.ScopeName)
		errs = append(errs, refuse(!quotaScopes.Has(r.ScopeName), field.Invalid(at.Child("scopeName"), r.ScopeName, "unsupported scope"))...)
		errs = append(errs, unscoped(s, r.ScopeName, field.Invalid(at, byFieldName(s.ScopeSelector), "unsupported scope applied to resource"))...)
		errs = append(errs, scopeOperator(r, at)...)
	}
	return append(errs, conflictingScopes(s, selected, at)...)
}

// unscoped is the error once for every limited resource that a scope cannot hold.
func unscoped(s *corev1.ResourceQuotaSpec, scope corev1.ResourceQuotaScope, err *field.Error) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedKeys(s.Hard) {
		errs = append(errs, refuse(standardQuota(name) && !scopeHolds(scope, name), err)...)
	}
	return errs
}

func scopeHolds(scope corev1.ResourceQuotaScope, name corev1.ResourceName) bool {
	switch scope {
	case corev1.ResourceQuotaScopeBestEffort:
		return name == corev1.ResourcePods
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		return name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage
	case corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeNotBestEffort,
		corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return podQuotaResources.Has(name)
	}
	return true
}

func conflictingScopes(s *corev1.ResourceQuotaSpec, scopes []corev1.ResourceQuotaScope, p *field.Path) field.ErrorList {
	both := func(a, b corev1.ResourceQuotaScope) field.ErrorList {
		return refuse(slices.Contains(scopes, a) && slices.Contains(scopes, b), field.Invalid(p, s.Scopes, "conflicting scopes"))
	}
	return concat(both(corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort),
		both(corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating))
}

func scopeOperator(r *corev1.ScopedResourceSelectorRequirement, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	operator, values := p.Child("operator"), p.Child("values")
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeTerminating,
		corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		errs = refuse(r.Operator != corev1.ScopeSelectorOpExists, field.Invalid(operator, r.Operator,
			"must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"))
	}
	switch r.Operator {
	case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
		return append(errs, refuse(len(r.Values) == 0, field.Required(values, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))...)
	case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
		return append(errs, refuse(len(r.Values) > 0, field.Invalid(values, r.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))...)
	}
	return append(errs, field.Invalid(operator, r.Operator, "not a valid selector operator"))
}
