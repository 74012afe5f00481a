package validation

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PodDisruptionBudget holds the rules of policy/v1 PodDisruptionBudgets.
func PodDisruptionBudget(b, old *policyv1.PodDisruptionBudget) field.ErrorList {
	s, p := &b.Spec, field.NewPath("spec")
	share := func(v *intstr.IntOrString, p *field.Path) field.ErrorList {
		return append(intOrPercent(*v, p), percentAtMost100(*v, p)...)
	}
	errs := concat(
		refuse(s.MinAvailable != nil && s.MaxUnavailable != nil,
			field.Invalid(p, byFieldName(s), "minAvailable and maxUnavailable cannot be both set")),
		when(s.MinAvailable, p.Child("minAvailable"), share),
		when(s.MaxUnavailable, p.Child("maxUnavailable"), share),
		labelSelector(s.Selector, p.Child("selector")),
		when(s.UnhealthyPodEvictionPolicy, p.Child("unhealthyPodEvictionPolicy"), func(v *policyv1.UnhealthyPodEvictionPolicyType, p *field.Path) field.ErrorList {
			return supported(*v, p, policyv1.AlwaysAllow, policyv1.IfHealthyBudget)
		}))
	if len(errs) > 0 { // it has no name rule of its own, so metadata comes second
		return errs
	}
	return ObjectMeta(&b.ObjectMeta, metaOf(old), namespaced)
}

// PodDisruptionBudgetStatus holds the rules of a write to poddisruptionbudgets/status.
func PodDisruptionBudgetStatus(b, old *policyv1.PodDisruptionBudget) field.ErrorList {
	s, p := &b.Status, field.NewPath("status")
	errs := append(metav1validation.ValidateConditions(s.Conditions, p.Child("conditions")),
		counters(p, counter{"disruptionsAllowed", int64(s.DisruptionsAllowed)}, counter{"currentHealthy", int64(s.CurrentHealthy)},
			counter{"desiredHealthy", int64(s.DesiredHealthy)}, counter{"expectedPods", int64(s.ExpectedPods)})...)
	return append(errs, metaUpdate(&b.ObjectMeta, &old.ObjectMeta)...)
}
