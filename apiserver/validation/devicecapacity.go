package validation

import (
	"fmt"
	"math"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func deviceCapacities(capacity map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, shared bool, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range sortedKeys(capacity) {
		c, at := capacity[key], p.Key(shortenedKey(key)).Child("requestPolicy")
		errs = append(errs, deviceQualifiedName(key, p)...)
		if c.RequestPolicy != nil && !shared {
			errs = append(errs, field.Forbidden(at, "allowMultipleAllocations must be true"))
		} else if c.RequestPolicy != nil {
			errs = append(errs, requestPolicy(c.RequestPolicy, c.Value, at)...)
		}
	}
	return errs
}

// requestPolicy limits how much of a capacity one request may take.
func requestPolicy(r *resourcev1.CapacityRequestPolicy, most resource.Quantity, p *field.Path) field.ErrorList {
	values, valid := len(r.ValidValues) > 0, r.ValidRange != nil
	switch {
	case values && valid:
		return field.ErrorList{field.Forbidden(p, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)}
	case values && r.Default == nil:
		return field.ErrorList{field.Required(p.Child("default"), "required when validValues is defined")}
	case valid && r.Default == nil:
		return field.ErrorList{field.Required(p.Child("default"), "required when validRange is defined")}
	case values:
		return validAmounts(r.ValidValues, *r.Default, most, p.Child("validValues"))
	case valid:
		return validRange(r.ValidRange, *r.Default, most, p.Child("validRange"))
	}
	return nil
}

func validAmounts(amounts []resource.Quantity, def, most resource.Quantity, p *field.Path) field.ErrorList {
	const limit = 10
	var errs field.ErrorList
	for i := 1; i < len(amounts); i++ {
		errs = append(errs, refuse(amounts[i-1].Cmp(amounts[i]) > 0, field.Invalid(p.Index(i), amounts[i].String(), "values must be sorted in ascending order"))...)
	}
	if len(amounts) > limit {
		return append(errs, field.TooMany(p, len(amounts), limit), field.Invalid(p, def.String(), "default value is not valid according to the requestPolicy"))
	}
	hasDefault := false
	var keys []string
	for i, a := range amounts {
		errs = append(errs, refuse(a.Cmp(most) > 0, field.Invalid(p.Index(i), a.String(), "option is larger than capacity value: "+most.String()))...)
		hasDefault = hasDefault || a.Cmp(def) == 0
		keys = append(keys, fmt.Sprint(a.Value()))
	}
	errs = append(errs, repeated(keys, p, func(i int) any { return keys[i] })...)
	return append(errs, refuse(!hasDefault, field.Invalid(p, def.String(), "default value is not valid according to the requestPolicy"))...)
}

func validRange(r *resourcev1.CapacityRequestPolicyRange, def, most resource.Quantity, p *field.Path) field.ErrorList {
	if r.Min == nil {
		return field.ErrorList{field.Required(p.Child("min"), "required when validRange is defined")}
	}
	errs := concat(refuse(r.Min.Cmp(most) > 0, field.Invalid(p.Child("min"), r.Min.String(), "min is larger than capacity value: "+most.String())),
		refuse(def.Cmp(*r.Min) < 0, field.Invalid(p.Child("default"), def.String(), "default is less than min: "+r.Min.String())))
	if r.Max != nil {
		at := p.Child("max")
		errs = append(errs, concat(refuse(r.Min.Cmp(*r.Max) > 0, field.Invalid(at, r.Min.String(), "min is larger than max: "+r.Max.String())),
			refuse(r.Max.Cmp(most) > 0, field.Invalid(at, r.Max.String(), "max is larger than capacity value: "+most.String())),
			refuse(def.Cmp(*r.Max) > 0, field.Invalid(p.Child("default"), def.String(), "default is more than max: "+r.Max.String())))...)
	}
	if r.Step == nil {
		return errs
	}
	return append(errs, rangeStep(r, def, most, p)...)
}

func rangeStep(r *resourcev1.CapacityRequestPolicyRange, def, most resource.Quantity, p *field.Path) field.ErrorList {
	at := p.Child("step")
	if r.Step.Sign() <= 0 {
		return field.ErrorList{field.Invalid(at, r.Step.String(), notPositive)}
	}
	first := r.Min.DeepCopy()
	first.Add(*r.Step)
	errs := refuse(first.Cmp(most) > 0, field.Invalid(at, r.Step.String(), fmt.Sprintf("one step %s is larger than capacity value: %s", first.String(), most.String())))
	if unusable := unusableBounds(r, def, p); len(unusable) > 0 {
		return append(errs, unusable...)
	}
	for _, q := range []*resource.Quantity{&def, r.Max} {
		if q != nil && (q.Value()-r.Min.Value())%r.Step.Value() != 0 {
			errs = append(errs, field.Invalid(at, q.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", r.Step.String(), r.Min.String())))
		}
	}
	return errs
}

// unusableBounds are those that no integer holds.
func unusableBounds(r *resourcev1.CapacityRequestPolicyRange, def resource.Quantity, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, bound := range []struct {
		name string
		q    *resource.Quantity
	}{{"default", &def}, {"min", r.Min}, {"max", r.Max}, {"step", r.Step}} {
		if bound.q == nil {
			continue
		}
		if bound.q.Sign() < 0 {
			errs = append(errs, field.Invalid(p.Child(bound.name), bound.q.String(), notNegative))
		} else if bound.q.CmpInt64(math.MaxInt64) > 0 {
			errs = append(errs, field.Invalid(p.Child(bound.name), bound.q.String(), "must not be larger than 9223372036854775807"))
		}
	}
	return errs
}
