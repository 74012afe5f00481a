package validation

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DaemonSet holds the rules of apps/v1 DaemonSets.
func DaemonSet(ds, old *appsv1.DaemonSet) field.ErrorList {
	p := field.NewPath("spec")
	errs := metaEither(&ds.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain)
	if old != nil {
		errs = append(errs, unchanged(ds.Spec.Selector, old.Spec.Selector, p.Child("selector"))...)
	}
	return append(errs, daemonSetSpec(&ds.Spec, p)...)
}

func daemonSetSpec(s *appsv1.DaemonSetSpec, p *field.Path) field.ErrorList {
	at, template := p.Child("selector"), p.Child("template")
	errs := labelSelector(s.Selector, at)
	selector, _ := selectorOf(s.Selector, at, "")
	if selector != nil && s.Selector != nil {
		errs = append(errs, refuse(!emptySelector(s.Selector) && len(templateMatches(&s.Template, selector, template)) > 0,
			field.Invalid(template.Child("metadata", "labels"), s.Template.Labels, labelsMismatch))...)
	}
	errs = append(errs, refuse(s.Selector == nil || emptySelector(s.Selector), field.Invalid(at, s.Selector, "empty selector is invalid for daemonset"))...)
	return concat(errs, podTemplate(&s.Template, template),
		refuse(s.Template.Spec.RestartPolicy != corev1.RestartPolicyAlways,
			field.NotSupported(template.Child("spec", "restartPolicy"), s.Template.Spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways})),
		refuse(s.Template.Spec.ActiveDeadlineSeconds != nil,
			field.Forbidden(template.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in DaemonSet is not Supported")),
		nonNegative(s.MinReadySeconds, p.Child("minReadySeconds")),
		daemonSetStrategy(&s.UpdateStrategy, p.Child("updateStrategy")),
		optionalNonNegative(s.RevisionHistoryLimit, p.Child("revisionHistoryLimit")))
}

func daemonSetStrategy(s *appsv1.DaemonSetUpdateStrategy, p *field.Path) field.ErrorList {
	switch s.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
		if s.RollingUpdate == nil {
			return field.ErrorList{field.Required(p.Child("rollingUpdate"), "")}
		}
		return rollingDaemonSet(s.RollingUpdate, p.Child("rollingUpdate"))
	}
	return field.ErrorList{field.NotSupported(p, byFieldName(s), []appsv1.DaemonSetUpdateStrategyType{
		appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType})}
}

func rollingDaemonSet(r *appsv1.RollingUpdateDaemonSet, p *field.Path) field.ErrorList {
	unavailable, surge := p.Child("maxUnavailable"), p.Child("maxSurge")
	errs := concat(intOrPercent(*r.MaxUnavailable, unavailable), percentAtMost100(*r.MaxUnavailable, unavailable),
		intOrPercent(*r.MaxSurge, surge), percentAtMost100(*r.MaxSurge, surge))
	return concat(errs,
		refuse(amount(r.MaxUnavailable) > 0 && amount(r.MaxSurge) > 0, field.Invalid(surge, r.MaxSurge, "may not be set when maxUnavailable is non-zero")),
		refuse(amount(r.MaxUnavailable) == 0 && amount(r.MaxSurge) == 0, field.Required(unavailable, "cannot be 0 when maxSurge is 0")))
}

// DaemonSetStatus holds the rules of a write to daemonsets/status.
func DaemonSetStatus(ds, old *appsv1.DaemonSet) field.ErrorList {
	s, p := &ds.Status, field.NewPath("status")
	return concat(metaUpdate(&ds.ObjectMeta, &old.ObjectMeta),
		counters(p, counter{"currentNumberScheduled", int64(s.CurrentNumberScheduled)}, counter{"numberMisscheduled", int64(s.NumberMisscheduled)},
			counter{"desiredNumberScheduled", int64(s.DesiredNumberScheduled)}, counter{"numberReady", int64(s.NumberReady)},
			counter{"observedGeneration", s.ObservedGeneration}, counter{"updatedNumberScheduled", int64(s.UpdatedNumberScheduled)},
			counter{"numberAvailable", int64(s.NumberAvailable)}, counter{"numberUnavailable", int64(s.NumberUnavailable)},
			counter{"collisionCount", orZero(s.CollisionCount)}),
		notDecremented(s.CollisionCount, old.Status.CollisionCount, p.Child("collisionCount")))
}
