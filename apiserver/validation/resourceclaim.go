package validation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ResourceClaim holds the rules of resource.k8s.io/v1 ResourceClaims, whose spec
// never changes.
func ResourceClaim(c, old *resourcev1.ResourceClaim) field.ErrorList {
	errs := metaCreate(&c.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain)
	if old != nil {
		return concat(errs, metaUpdate(&c.ObjectMeta, &old.ObjectMeta),
			refuse(!sameValue(c.Spec, old.Spec), field.Invalid(field.NewPath("spec"), nil, immutable)))
	}
	return declaredLast(append(errs, deviceClaim(&c.Spec.Devices, field.NewPath("spec", "devices"))...))
}

// ResourceClaimTemplate holds the rules of resource.k8s.io/v1
// ResourceClaimTemplates, whose spec never changes.
func ResourceClaimTemplate(t, old *resourcev1.ResourceClaimTemplate) field.ErrorList {
	p := field.NewPath("spec")
	if old != nil {
		return append(metaUpdate(&t.ObjectMeta, &old.ObjectMeta), unchangedShown(t.Spec, old.Spec, p)...)
	}
	return declaredLast(concat(metaCreate(&t.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain),
		embeddedMeta(&t.Spec.ObjectMeta, p.Child("metadata")), deviceClaim(&t.Spec.Spec.Devices, p.Child("spec", "devices"))))
}

// DeviceClass holds the rules of resource.k8s.io/v1 DeviceClasses.
func DeviceClass(c, old *resourcev1.DeviceClass) field.ErrorList {
	errs := metaCreate(&c.ObjectMeta, clusterScoped, func(string, bool) []string { return nil })
	if c.Name != "" {
		errs = append(errs, declared(dnsSubdomain(c.Name, field.NewPath("metadata", "name")))...)
	}
	if old != nil {
		errs = append(errs, metaUpdate(&c.ObjectMeta, &old.ObjectMeta)...)
	}
	p := field.NewPath("spec")
	stored := old != nil && sameValue(c.Spec.Selectors, old.Spec.Selectors)
	errs = append(errs, deviceSelectors(c.Spec.Selectors, stored, p.Child("selectors"))...)
	errs = append(errs, sized(c.Spec.Config, resourcev1.DeviceConfigMaxSize, p.Child("config"), func(c *resourcev1.DeviceClassConfiguration, p *field.Path) field.ErrorList {
		return deviceConfiguration(&c.DeviceConfiguration, p)
	})...)
	return declaredLast(append(errs, declared(validate.ExtendedResourceName(context.Background(), operation.Operation{}, p.Child("extendedResourceName"), c.Spec.ExtendedResourceName, nil))...))
}

// declared marks the errors of rules that Kubernetes declares on its types. A
// server evaluates these after all others; see declaredLast.
func declared(errs field.ErrorList) field.ErrorList { return errs.MarkCoveredByDeclarative() }

// declaredLast puts errors in the order of a server's answer.
func declaredLast(errs field.ErrorList) field.ErrorList {
	return append(errs.RemoveCoveredByDeclarative(), errs.ExtractCoveredByDeclarative()...)
}

// bounded checks the elements of a list, unless there are too many to look at.
func bounded[T any](list []T, limit int, p *field.Path, rule func(*T, *field.Path) field.ErrorList) field.ErrorList {
	if len(list) > limit {
		return field.ErrorList{field.TooMany(p, len(list), limit)}
	}
	return each(list, p, rule)
}

// sized is bounded for a list whose limit is declared.
func sized[T any](list []T, limit int, p *field.Path, rule func(*T, *field.Path) field.ErrorList) field.ErrorList {
	if len(list) > limit {
		return declared(bounded(list, limit, p, rule))
	}
	return each(list, p, rule)
}

// sizedSet is sized for a list whose elements must differ by key. shown is what
// the error displays of a repeated one.
func sizedSet[T any](list []T, limit int, p *field.Path, key func(*T) string, shown func(*T) any, rule func(*T, *field.Path) field.ErrorList) field.ErrorList {
	errs := sized(list, limit, p, rule)
	if len(list) > limit {
		return errs
	}
	seen := sets.New[string]()
	for i := range list {
		k := key(&list[i])
		errs = append(errs, declared(refuse(seen.Has(k), field.Duplicate(p.Index(i), shown(&list[i]))))...)
		seen.Insert(k)
	}
	return errs
}

func fieldNames[T any](v *T) any { return byFieldName(*v) }

func itself(s *string) string { return *s }

func asIs(s *string) any { return *s }

// requestNames are the requests of a claim, and their alternatives as
// request/alternative.
func requestNames(c *resourcev1.DeviceClaim) sets.Set[string] {
	names := sets.New[string]()
	for _, r := range c.Requests {
		names.Insert(r.Name)
		for _, sub := range r.FirstAvailable {
			names.Insert(r.Name + "/" + sub.Name)
		}
	}
	return names
}

func deviceClaim(c *resourcev1.DeviceClaim, p *field.Path) field.ErrorList {
	names := requestNames(c)
	requests := sizedSet(c.Requests, resourcev1.DeviceRequestsMaxSize, p.Child("requests"),
		func(r *resourcev1.DeviceRequest) string { return r.Name }, fieldNames, deviceRequest)
	constraints := sized(c.Constraints, resourcev1.DeviceConstraintsMaxSize, p.Child("constraints"), func(c *resourcev1.DeviceConstraint, p *field.Path) field.ErrorList {
		return deviceConstraint(c, names, p)
	})
	config := sized(c.Config, resourcev1.DeviceConfigMaxSize, p.Child("config"), func(c *resourcev1.DeviceClaimConfiguration, p *field.Path) field.ErrorList {
		return append(requestReferences(c.Requests, names, p.Child("requests")), deviceConfiguration(&c.DeviceConfiguration, p)...)
	})
	return concat(requests, constraints, config)
}

func deviceRequest(r *resourcev1.DeviceRequest, p *field.Path) field.ErrorList {
	const one = "exactly one of `exactly` or `firstAvailable` is required"
	errs := dnsLabel(r.Name, p.Child("name"))
	switch {
	case r.Exactly == nil && len(r.FirstAvailable) == 0:
		errs = append(errs, field.Required(p, one))
	case r.Exactly != nil && len(r.FirstAvailable) > 0:
		errs = append(errs, field.Invalid(p, nil, one+", but multiple fields are set"))
	case r.Exactly != nil:
		errs = append(errs, exactRequest(r.Exactly, p.Child("exactly"))...)
	default:
		errs = append(errs, sizedSet(r.FirstAvailable, resourcev1.FirstAvailableDeviceRequestMaxSize, p.Child("firstAvailable"),
			func(s *resourcev1.DeviceSubRequest) string { return s.Name }, fieldNames, subRequest)...)
	}
	return errs
}

func exactRequest(r *resourcev1.ExactDeviceRequest, p *field.Path) field.ErrorList {
	return concat(requiredName(r.DeviceClassName, p.Child("deviceClassName"), apivalidation.NameIsDNSSubdomain),
		deviceSelectors(r.Selectors, false, p.Child("selectors")), deviceCount(r.AllocationMode, r.Count, p),
		each(r.Tolerations, p.Child("tolerations"), deviceToleration))
}

func subRequest(r *resourcev1.DeviceSubRequest, p *field.Path) field.ErrorList {
	return concat(dnsLabel(r.Name, p.Child("name")),
		declared(requiredName(r.DeviceClassName, p.Child("deviceClassName"), apivalidation.NameIsDNSSubdomain)),
		deviceSelectors(r.Selectors, false, p.Child("selectors")), deviceCount(r.AllocationMode, r.Count, p),
		each(r.Tolerations, p.Child("tolerations"), deviceToleration))
}

func deviceCount(mode resourcev1.DeviceAllocationMode, count int64, p *field.Path) field.ErrorList {
	at := p.Child("count")
	switch mode {
	case resourcev1.DeviceAllocationModeAll:
		return refuse(count != 0, field.Invalid(at, count, fmt.Sprintf("must not be specified when allocationMode is '%s'", mode)))
	case resourcev1.DeviceAllocationModeExactCount:
		return refuse(count <= 0, field.Invalid(at, count, notPositive))
	}
	return declared(supported(mode, p.Child("allocationMode"), resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount))
}

// deviceSelectors leaves expressions alone that were accepted before.
func deviceSelectors(list []resourcev1.DeviceSelector, stored bool, p *field.Path) field.ErrorList {
	return sized(list, resourcev1.DeviceSelectorsMaxSize, p, func(s *resourcev1.DeviceSelector, p *field.Path) field.ErrorList {
		at := p.Child("cel", "expression")
		switch {
		case s.CEL == nil:
			return field.ErrorList{field.Required(p.Child("cel"), "")}
		case stored:
			return nil
		case len(s.CEL.Expression) > resourcev1.CELSelectorExpressionMaxLength:
			return field.ErrorList{field.TooLong(at, "", resourcev1.CELSelectorExpressionMaxLength)}
		}
		return celExpression(s.CEL.Expression, deviceVariables, at)
	})
}

func deviceToleration(t *resourcev1.DeviceToleration, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Key != "" {
		errs = declared(qualifiedName(t.Key, p.Child("key")))
	}
	value := p.Child("value")
	switch t.Operator {
	case resourcev1.DeviceTolerationOpExists:
		errs = append(errs, refuse(t.Value != "", field.Invalid(value, t.Value, "must be empty for operator `Exists`"))...)
	case resourcev1.DeviceTolerationOpEqual:
		errs = append(errs, invalids(t.Value, value, validation.IsValidLabelValue(t.Value))...)
	default:
		errs = append(errs, declared(oneOf(t.Operator, p.Child("operator"), resourcev1.DeviceTolerationOpEqual, resourcev1.DeviceTolerationOpExists))...)
	}
	if t.Effect != "" {
		errs = append(errs, deviceTaintEffect(t.Effect, p.Child("effect"))...)
	}
	return errs
}

func deviceTaintEffect(e resourcev1.DeviceTaintEffect, p *field.Path) field.ErrorList {
	return declared(oneOf(e, p, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNone))
}

func deviceConstraint(c *resourcev1.DeviceConstraint, names sets.Set[string], p *field.Path) field.ErrorList {
	errs := requestReferences(c.Requests, names, p.Child("requests"))
	errs = append(errs, refuse(c.MatchAttribute == nil && c.DistinctAttribute == nil,
		field.Required(p, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`))...)
	return concat(errs, declared(validate.ResourceFullyQualifiedName(context.Background(), operation.Operation{}, p.Child("matchAttribute"), c.MatchAttribute, nil)),
		declared(validate.ResourceFullyQualifiedName(context.Background(), operation.Operation{}, p.Child("distinctAttribute"), c.DistinctAttribute, nil)))
}

func requestReferences(list []string, names sets.Set[string], p *field.Path) field.ErrorList {
	return sizedSet(list, resourcev1.DeviceRequestsMaxSize, p, itself, asIs, func(name *string, p *field.Path) field.ErrorList {
		return requestReference(*name, names, p)
	})
}

func requestReference(name string, names sets.Set[string], p *field.Path) field.ErrorList {
	unknown := field.Invalid(p, name, "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'")
	parts := strings.Split(name, "/")
	if len(parts) > 2 {
		return field.ErrorList{unknown}
	}
	var errs field.ErrorList
	for _, part := range parts {
		errs = append(errs, dnsLabel(part, p)...)
	}
	return append(errs, refuse(!names.Has(name), unknown)...)
}

func deviceConfiguration(c *resourcev1.DeviceConfiguration, p *field.Path) field.ErrorList {
	if c.Opaque == nil {
		return field.ErrorList{field.Required(p.Child("opaque"), "")}
	}
	at := p.Child("opaque")
	return append(declared(deviceDriver(c.Opaque.Driver, at.Child("driver"))), driverObject(c.Opaque.Parameters, resourcev1.OpaqueParametersMaxLength, at.Child("parameters"))...)
}

// deviceDriver stops at an empty name, as rules declared on types do.
func deviceDriver(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return required(name, p)
	}
	return csiDriverName(name, p)
}

// driverObject wants a JSON object whose meaning is a driver's business.
func driverObject(raw runtime.RawExtension, limit int, p *field.Path) field.ErrorList {
	const omitted = "<value omitted>"
	switch {
	case len(raw.Raw) == 0:
		return field.ErrorList{field.Required(p, "")}
	case len(raw.Raw) > limit:
		return field.ErrorList{field.TooLong(p, "", limit)}
	}
	var v any
	if err := json.Unmarshal(raw.Raw, &v); err != nil {
		return field.ErrorList{field.Invalid(p, omitted, "error parsing data as JSON: "+err.Error())}
	}
	if v == nil {
		return field.ErrorList{field.Required(p, "")}
	}
	_, object := v.(map[string]any)
	return refuse(!object, field.Invalid(p, omitted, "must be a valid JSON object"))
}
