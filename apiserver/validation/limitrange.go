package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// LimitRange holds the rules of core/v1 LimitRanges: one entry a type, whose
// minimum, default and maximum do not contradict each other.
func LimitRange(l, _ *corev1.LimitRange) field.ErrorList {
	types := sets.New[corev1.LimitType]()
	return append(metaCreate(&l.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain),
		each(l.Spec.Limits, field.NewPath("spec", "limits"), func(item *corev1.LimitRangeItem, p *field.Path) field.ErrorList {
			errs := append(limitType(item.Type, p.Child("type")), refuse(types.Has(item.Type), field.Duplicate(p.Child("type"), item.Type))...)
			types.Insert(item.Type)
			return concat(errs, limitNames(item, p), limitValues(item, p))
		})...)
}

func limitType(t corev1.LimitType, p *field.Path) field.ErrorList {
	if errs := invalids(t, p, validation.IsQualifiedName(string(t))); len(errs) > 0 {
		return errs
	}
	standard := t == corev1.LimitTypePod || t == corev1.LimitTypeContainer || t == corev1.LimitTypePersistentVolumeClaim
	return refuse(!prefixed(t) && !standard, field.Invalid(p, t, "must be a standard limit type or fully qualified"))
}

func limitNames(item *corev1.LimitRangeItem, p *field.Path) field.ErrorList {
	names := func(list corev1.ResourceList, p *field.Path) field.ErrorList {
		var errs field.ErrorList
		for _, name := range sortedKeys(list) {
			if item.Type == corev1.LimitTypePod || item.Type == corev1.LimitTypeContainer {
				errs = append(errs, containerResourceName(name, p.Key(string(name)))...)
			} else {
				errs = append(errs, resourceName(name, p.Key(string(name)))...)
			}
		}
		return errs
	}
	errs := concat(names(item.Max, p.Child("max")), names(item.Min, p.Child("min")))
	if item.Type == corev1.LimitTypePod {
		const reason = "may not be specified when `type` is 'Pod'"
		errs = append(errs, concat(refuse(len(item.Default) > 0, field.Forbidden(p.Child("default"), reason)),
			refuse(len(item.DefaultRequest) > 0, field.Forbidden(p.Child("defaultRequest"), reason)))...)
	} else {
		errs = append(errs, concat(names(item.Default, p.Child("default")), names(item.DefaultRequest, p.Child("defaultRequest")))...)
	}
	if item.Type == corev1.LimitTypePersistentVolumeClaim {
		_, min := item.Min[corev1.ResourceStorage]
		_, max := item.Max[corev1.ResourceStorage]
		errs = append(errs, refuse(!min && !max,
			field.Required(p.Child("limits"), "either minimum or maximum storage value is required, but neither was provided"))...)
	}
	return append(errs, names(item.MaxLimitRequestRatio, p.Child("maxLimitRequestRatio"))...)
}

// bound is one of the values that an entry gives for a resource, in order of size.
type bound struct {
	field, noun string
	list        corev1.ResourceList
}

func limitValues(item *corev1.LimitRangeItem, p *field.Path) field.ErrorList {
	lowest := bound{"min", "min", item.Min}
	highest := bound{"max", "max", item.Max}
	request := bound{"defaultRequest", "default request", item.DefaultRequest}
	limit := bound{"default", "default", item.Default}
	if item.Type == corev1.LimitTypePod {
		request.list, limit.list = nil, nil
	}
	names := sets.KeySet(item.Min).Union(sets.KeySet(item.Max)).Union(sets.KeySet(request.list)).
		Union(sets.KeySet(limit.list)).Union(sets.KeySet(item.MaxLimitRequestRatio))
	var errs field.ErrorList
	for _, name := range sets.List(names) {
		// The second bound of each pair is the one that the error is about, or shows.
		errs = append(errs, concat(
			ordered(name, lowest, highest, "min", lowest, p),
			ordered(name, lowest, request, "defaultRequest", request, p),
			ordered(name, request, highest, "defaultRequest", request, p),
			ordered(name, request, bound{limit.field, "default limit", limit.list}, "defaultRequest", request, p),
			ordered(name, lowest, limit, "default", lowest, p),
			ordered(name, limit, highest, "default", highest, p),
			ratio(item, name, p.Child("maxLimitRequestRatio").Key(string(name))))...)
		d, hasLimit := limit.list[name]
		r, hasRequest := request.list[name]
		errs = append(errs, refuse(hasLimit && hasRequest && !overcommits(name) && d.Cmp(r) != 0, field.Invalid(p.Child("defaultRequest").Key(string(name)), r,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", d.String(), r.String(), name)))...)
	}
	return errs
}

func ordered(name corev1.ResourceName, low, high bound, at string, shown bound, p *field.Path) field.ErrorList {
	l, hasLow := low.list[name]
	h, hasHigh := high.list[name]
	return refuse(hasLow && hasHigh && l.Cmp(h) > 0, field.Invalid(p.Child(at).Key(string(name)), shown.list[name],
		fmt.Sprintf("%s value %s is greater than %s value %s", low.noun, l.String(), high.noun, h.String())))
}

func ratio(item *corev1.LimitRangeItem, name corev1.ResourceName, p *field.Path) field.ErrorList {
	r, ok := item.MaxLimitRequestRatio[name]
	if !ok {
		return nil
	}
	errs := refuse(r.Cmp(resource.MustParse("1")) < 0, field.Invalid(p, r, fmt.Sprintf("ratio %s is less than 1", r.String())))
	lowest, hasMin := item.Min[name]
	highest, hasMax := item.Max[name]
	if !hasMin || !hasMax {
		return errs
	}
	limit := highest.AsApproximateFloat64() / lowest.AsApproximateFloat64()
	return append(errs, refuse(r.AsApproximateFloat64() > limit,
		field.Invalid(p, r, fmt.Sprintf("ratio %s is greater than max/min = %f", r.String(), limit)))...)
}
