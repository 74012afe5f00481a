package validation

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// StatefulSet holds the rules of apps/v1 StatefulSets. Only how many pods it has,
// what they are and how they follow may change.
func StatefulSet(set, old *appsv1.StatefulSet) field.ErrorList {
	p := field.NewPath("spec")
	if old == nil {
		return append(metaCreate(&set.ObjectMeta, namespaced, apivalidation.NameIsDNSLabel), statefulSetSpec(&set.Spec, p)...)
	}
	return concat(metaUpdate(&set.ObjectMeta, &old.ObjectMeta), statefulSetSpec(&set.Spec, p), statefulSetUpdate(&set.Spec, &old.Spec, p))
}

func statefulSetSpec(s *appsv1.StatefulSetSpec, p *field.Path) field.ErrorList {
	errs := concat(podManagement(s.PodManagementPolicy, p.Child("podManagementPolicy")),
		statefulSetStrategy(&s.UpdateStrategy, p.Child("updateStrategy")),
		when(s.PersistentVolumeClaimRetentionPolicy, p.Child("persistentVolumeClaimRetentionPolicy"), claimRetention),
		optionalNonNegative(s.Replicas, p.Child("replicas")),
		nonNegative(s.MinReadySeconds, p.Child("minReadySeconds")))
	if s.Ordinals != nil {
		errs = append(errs, nonNegative(s.Ordinals.Start, p.Child("ordinals", "start"))...)
	}
	selector, wrong := selectorOf(s.Selector, p.Child("selector"), "empty selector is invalid for statefulset")
	errs = append(errs, wrong...)
	if at := p.Child("template"); selector == nil {
		errs = append(errs, field.Invalid(p.Child("selector"), s.Selector, ""))
	} else {
		errs = append(errs, concat(templateMatches(&s.Template, selector, at), statefulTemplate(s, at))...)
	}
	spec := p.Child("template", "spec")
	if s.ServiceName != "" {
		errs = append(errs, named(s.ServiceName, p.Child("serviceName"), apivalidation.NameIsDNSSubdomain)...)
	}
	errs = append(errs, optionalNonNegative(s.RevisionHistoryLimit, p.Child("revisionHistoryLimit"))...)
	return concat(errs,
		refuse(s.Template.Spec.RestartPolicy != corev1.RestartPolicyAlways,
			field.NotSupported(spec.Child("restartPolicy"), s.Template.Spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways})),
		refuse(s.Template.Spec.ActiveDeadlineSeconds != nil,
			field.Forbidden(spec.Child("activeDeadlineSeconds"), "activeDeadlineSeconds in StatefulSet is not Supported")))
}

func podManagement(policy appsv1.PodManagementPolicyType, p *field.Path) field.ErrorList {
	switch policy {
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
		return nil
	case "":
		return field.ErrorList{field.Required(p, "")}
	}
	return field.ErrorList{field.Invalid(p, policy, fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement))}
}

func statefulSetStrategy(s *appsv1.StatefulSetUpdateStrategy, p *field.Path) field.ErrorList {
	r, at := s.RollingUpdate, p.Child("rollingUpdate")
	switch s.Type {
	case "":
		return field.ErrorList{field.Required(p, "")}
	case appsv1.OnDeleteStatefulSetStrategyType:
		return refuse(r != nil, field.Invalid(at, byFieldName(r), fmt.Sprintf("only allowed for updateStrategy '%s'", appsv1.RollingUpdateStatefulSetStrategyType)))
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if r == nil {
			return nil
		}
		errs := optionalNonNegative(r.Partition, at.Child("partition"))
		if r.MaxUnavailable == nil {
			return errs
		}
		unavailable := at.Child("maxUnavailable")
		return concat(errs, intOrPercent(*r.MaxUnavailable, unavailable),
			refuse(amount(r.MaxUnavailable) == 0, field.Invalid(unavailable, *r.MaxUnavailable, "cannot be 0")),
			percentAtMost100(*r.MaxUnavailable, unavailable))
	}
	return field.ErrorList{field.Invalid(p, byFieldName(s),
		fmt.Sprintf("must be '%s' or '%s'", appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType))}
}

func claimRetention(r *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy, p *field.Path) field.ErrorList {
	rule := func(policy appsv1.PersistentVolumeClaimRetentionPolicyType, p *field.Path) field.ErrorList {
		return supported(policy, p, appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType)
	}
	return concat(rule(r.WhenDeleted, p.Child("whenDeleted")), rule(r.WhenScaled, p.Child("whenScaled")))
}

// statefulTemplate checks the template together with the volumes that come from
// the set's claims, which win over the template's own of the same name.
func statefulTemplate(s *appsv1.StatefulSetSpec, p *field.Path) field.ErrorList {
	claimed := sets.New[string]()
	template := s.Template
	template.Spec.Volumes = nil
	for _, claim := range s.VolumeClaimTemplates {
		claimed.Insert(claim.Name)
	}
	for _, v := range s.Template.Spec.Volumes {
		if !claimed.Has(v.Name) {
			template.Spec.Volumes = append(template.Spec.Volumes, v)
		}
	}
	for _, claim := range s.VolumeClaimTemplates {
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}}})
	}
	return podTemplate(&template, p)
}

func statefulSetUpdate(s, old *appsv1.StatefulSetSpec, p *field.Path) field.ErrorList {
	errs := concat(unchanged(s.ServiceName, old.ServiceName, p.Child("serviceName")),
		unchanged(s.PodManagementPolicy, old.PodManagementPolicy, p.Child("podManagementPolicy")),
		unchanged(s.Selector, old.Selector, p.Child("selector")))
	rest := *s.DeepCopy()
	rest.Replicas, rest.Template, rest.UpdateStrategy = old.Replicas, old.Template, old.UpdateStrategy
	rest.MinReadySeconds, rest.Ordinals = old.MinReadySeconds, old.Ordinals
	rest.RevisionHistoryLimit = old.RevisionHistoryLimit
	rest.PersistentVolumeClaimRetentionPolicy = old.PersistentVolumeClaimRetentionPolicy
	rest.ServiceName, rest.PodManagementPolicy, rest.Selector = old.ServiceName, old.PodManagementPolicy, old.Selector
	return append(errs, refuse(!sameValue(rest, *old), field.Forbidden(p,
		"updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"))...)
}

// StatefulSetStatus holds the rules of a write to statefulsets/status.
func StatefulSetStatus(set, old *appsv1.StatefulSet) field.ErrorList {
	s, p := &set.Status, field.NewPath("status")
	return concat(
		counters(p, counter{"replicas", int64(s.Replicas)}, counter{"readyReplicas", int64(s.ReadyReplicas)},
			counter{"currentReplicas", int64(s.CurrentReplicas)}, counter{"updatedReplicas", int64(s.UpdatedReplicas)},
			counter{"availableReplicas", int64(s.AvailableReplicas)}, counter{"observedGeneration", s.ObservedGeneration},
			counter{"collisionCount", orZero(s.CollisionCount)}),
		notMore(p, s.Replicas, aboveReplicas, counter{"readyReplicas", int64(s.ReadyReplicas)}, counter{"currentReplicas", int64(s.CurrentReplicas)},
			counter{"updatedReplicas", int64(s.UpdatedReplicas)}, counter{"availableReplicas", int64(s.AvailableReplicas)}),
		notMore(p, s.ReadyReplicas, "cannot be greater than status.readyReplicas", counter{"availableReplicas", int64(s.AvailableReplicas)}),
		metaUpdate(&set.ObjectMeta, &old.ObjectMeta),
		notDecremented(s.CollisionCount, old.Status.CollisionCount, p.Child("collisionCount")))
}
