package validation

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const labelsMismatch = "`selector` does not match template `labels`"

// selectorOf checks the selector of a workload and compiles it; nil where it
// cannot be.
func selectorOf(s *metav1.LabelSelector, p *field.Path, empty string) (labels.Selector, field.ErrorList) {
	var errs field.ErrorList
	if s == nil {
		errs = append(errs, field.Required(p, ""))
	} else {
		errs = append(errs, labelSelector(s, p)...)
		errs = append(errs, refuse(emptySelector(s), field.Invalid(p, s, empty))...)
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, errs
	}
	return selector, errs
}

// templateMatches checks that a workload would find the pods it makes.
func templateMatches(t *corev1.PodTemplateSpec, s labels.Selector, p *field.Path) field.ErrorList {
	return refuse(!s.Empty() && !s.Matches(labels.Set(t.Labels)), field.Invalid(p.Child("metadata", "labels"), t.Labels, labelsMismatch))
}

// alwaysRunning holds the rules of the templates whose pods are never done.
func alwaysRunning(t *corev1.PodTemplateSpec, p *field.Path, kind string) field.ErrorList {
	spec := p.Child("spec")
	return concat(
		refuse(t.Spec.RestartPolicy != corev1.RestartPolicyAlways,
			field.NotSupported(spec.Child("restartPolicy"), t.Spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways})),
		refuse(t.Spec.ActiveDeadlineSeconds != nil,
			field.Forbidden(spec.Child("activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported")))
}

// intOrPercent is a count or a share of the replicas.
func intOrPercent(v intstr.IntOrString, p *field.Path) field.ErrorList {
	if v.Type == intstr.String {
		return invalids(v, p, validation.IsValidPercent(v.StrVal))
	}
	return nonNegative(int64(v.IntValue()), p)
}

// percentAtMost100 refuses a share that is more than everything.
func percentAtMost100(v intstr.IntOrString, p *field.Path) field.ErrorList {
	percent, ok := percentOf(v)
	return refuse(ok && percent > 100, field.Invalid(p, v, "must not be greater than 100%"))
}

func percentOf(v intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(validation.IsValidPercent(v.StrVal)) > 0 {
		return 0, false
	}
	percent, err := intstr.GetScaledValueFromIntOrPercent(&v, 100, true)
	return percent, err == nil
}

// amount is the number in a count or percentage, to tell whether it is zero.
func amount(v *intstr.IntOrString) int {
	if v == nil {
		return 0
	}
	if percent, ok := percentOf(*v); ok {
		return percent
	}
	return v.IntValue()
}

// counter is a field of a status that must not be negative.
type counter struct {
	name  string
	value int64
}

func counters(p *field.Path, list ...counter) field.ErrorList {
	var errs field.ErrorList
	for _, c := range list {
		errs = append(errs, nonNegative(c.value, p.Child(c.name))...)
	}
	return errs
}

// notMore refuses counts above the one that they are part of.
func notMore(p *field.Path, limit int32, reason string, list ...counter) field.ErrorList {
	var errs field.ErrorList
	for _, c := range list {
		errs = append(errs, refuse(c.value > int64(limit), field.Invalid(p.Child(c.name), int32(c.value), reason))...)
	}
	return errs
}

// notDecremented keeps a count of collisions from being forgotten.
func notDecremented(now, old *int32, p *field.Path) field.ErrorList {
	value := int32(0)
	if now != nil {
		value = *now
	}
	return refuse(old != nil && value < *old, field.Invalid(p, value, "cannot be decremented"))
}

func orZero[T ~int32 | ~int64](v *T) int64 {
	if v == nil {
		return 0
	}
	return int64(*v)
}
