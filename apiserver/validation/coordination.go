package validation

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Lease holds the rules of coordination.k8s.io/v1 Leases.
func Lease(l, old *coordinationv1.Lease) field.ErrorList {
	errs := metaEither(&l.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain)
	spec, p := &l.Spec, field.NewPath("spec")
	if d := spec.LeaseDurationSeconds; d != nil && *d <= 0 {
		errs = append(errs, field.Invalid(p.Child("leaseDurationSeconds"), *d, "must be greater than 0"))
	}
	if t := spec.LeaseTransitions; t != nil && *t < 0 {
		errs = append(errs, field.Invalid(p.Child("leaseTransitions"), *t, notNegative))
	}
	hasStrategy := spec.Strategy != nil && *spec.Strategy != ""
	if spec.Strategy != nil {
		errs = append(errs, qualifiedName(string(*spec.Strategy), p.Child("strategy"))...)
	}
	hasHolder := spec.PreferredHolder != nil && *spec.PreferredHolder != ""
	return append(errs, refuse(hasHolder && !hasStrategy,
		field.Forbidden(p.Child("preferredHolder"), "may only be specified when `strategy` is defined"))...)
}
