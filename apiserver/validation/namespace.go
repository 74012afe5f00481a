package validation

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Namespace holds the rules of core/v1 Namespaces.
func Namespace(ns, old *corev1.Namespace) field.ErrorList {
	if old != nil {
		return metaUpdate(&ns.ObjectMeta, &old.ObjectMeta)
	}
	p := field.NewPath("spec", "finalizers")
	errs := metaCreate(&ns.ObjectMeta, clusterScoped, apivalidation.ValidateNamespaceName)
	for _, f := range ns.Spec.Finalizers {
		errs = append(errs, namespaceFinalizer(f, p)...)
	}
	return errs
}

// NamespaceStatus holds the rules of a write to namespaces/status.
func NamespaceStatus(ns, old *corev1.Namespace) field.ErrorList {
	errs := metaUpdate(&ns.ObjectMeta, &old.ObjectMeta)
	p, phase := field.NewPath("status", "Phase"), ns.Status.Phase
	if ns.DeletionTimestamp.IsZero() {
		return append(errs, refuse(phase != corev1.NamespaceActive,
			field.Invalid(p, phase, "may only be 'Active' if `deletionTimestamp` is empty"))...)
	}
	return append(errs, refuse(phase != corev1.NamespaceTerminating,
		field.Invalid(p, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty"))...)
}

// NamespaceFinalize holds the rules of a write to namespaces/finalize.
func NamespaceFinalize(ns, old *corev1.Namespace) field.ErrorList {
	return concat(metaUpdate(&ns.ObjectMeta, &old.ObjectMeta),
		each(ns.Spec.Finalizers, field.NewPath("spec", "finalizers"), func(f *corev1.FinalizerName, p *field.Path) field.ErrorList {
			return namespaceFinalizer(*f, p)
		}))
}

func namespaceFinalizer(name corev1.FinalizerName, p *field.Path) field.ErrorList {
	return concat(apivalidation.ValidateFinalizerName(string(name), p), kubeFinalizer(string(name), p))
}
