package validation

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	aboveReplicas = "cannot be greater than status.replicas"
	aboveReady    = "cannot be greater than readyReplicas"
)

// Deployment holds the rules of apps/v1 Deployments.
func Deployment(d, old *appsv1.Deployment) field.ErrorList {
	p := field.NewPath("spec")
	errs := append(metaEither(&d.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain), deploymentSpec(&d.Spec, p)...)
	if old != nil {
		errs = append(errs, unchanged(d.Spec.Selector, old.Spec.Selector, p.Child("selector"))...)
	}
	return errs
}

func deploymentSpec(s *appsv1.DeploymentSpec, p *field.Path) field.ErrorList {
	errs := optionalNonNegative(s.Replicas, p.Child("replicas"))
	selector, wrong := selectorOf(s.Selector, p.Child("selector"), "empty selector is invalid for deployment")
	errs = append(errs, wrong...)
	if selector == nil {
		errs = append(errs, field.Invalid(p.Child("selector"), s.Selector, "invalid label selector"))
	} else {
		errs = append(errs, replicaTemplate(&s.Template, selector, p.Child("template"))...)
	}
	errs = append(errs, concat(
		deploymentStrategy(&s.Strategy, p.Child("strategy")),
		nonNegative(s.MinReadySeconds, p.Child("minReadySeconds")),
		optionalNonNegative(s.RevisionHistoryLimit, p.Child("revisionHistoryLimit")))...)
	if deadline := s.ProgressDeadlineSeconds; deadline != nil {
		at := p.Child("progressDeadlineSeconds")
		errs = append(errs, nonNegative(*deadline, at)...)
		errs = append(errs, refuse(*deadline <= s.MinReadySeconds, field.Invalid(at, *deadline, "must be greater than minReadySeconds"))...)
	}
	return errs
}

func deploymentStrategy(s *appsv1.DeploymentStrategy, p *field.Path) field.ErrorList {
	at := p.Child("rollingUpdate")
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		return refuse(s.RollingUpdate != nil, field.Forbidden(at,
			fmt.Sprintf("may not be specified when strategy `type` is '%s'", appsv1.RecreateDeploymentStrategyType)))
	case appsv1.RollingUpdateDeploymentStrategyType:
		if s.RollingUpdate == nil {
			return field.ErrorList{field.Required(at, "this should be defaulted and never be nil")}
		}
		return rollingDeployment(s.RollingUpdate, at)
	}
	return field.ErrorList{field.NotSupported(p, byFieldName(s), []appsv1.DeploymentStrategyType{
		appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType})}
}

func rollingDeployment(r *appsv1.RollingUpdateDeployment, p *field.Path) field.ErrorList {
	unavailable, surge := p.Child("maxUnavailable"), p.Child("maxSurge")
	return concat(
		intOrPercent(*r.MaxUnavailable, unavailable),
		intOrPercent(*r.MaxSurge, surge),
		refuse(amount(r.MaxUnavailable) == 0 && amount(r.MaxSurge) == 0, field.Invalid(unavailable, r.MaxUnavailable, "may not be 0 when `maxSurge` is 0")),
		percentAtMost100(*r.MaxUnavailable, unavailable))
}

// replicaTemplate holds the rules of the templates of Deployments, ReplicaSets
// and StatefulSets.
func replicaTemplate(t *corev1.PodTemplateSpec, s labels.Selector, p *field.Path) field.ErrorList {
	return concat(templateMatches(t, s, p), podTemplate(t, p), alwaysRunning(t, p, "ReplicaSet"))
}

// DeploymentStatus holds the rules of a write to deployments/status.
func DeploymentStatus(d, old *appsv1.Deployment) field.ErrorList {
	s, p := &d.Status, field.NewPath("status")
	return concat(metaUpdate(&d.ObjectMeta, &old.ObjectMeta),
		counters(p, counter{"observedGeneration", s.ObservedGeneration}, counter{"replicas", int64(s.Replicas)},
			counter{"updatedReplicas", int64(s.UpdatedReplicas)}, counter{"readyReplicas", int64(s.ReadyReplicas)},
			counter{"availableReplicas", int64(s.AvailableReplicas)}, counter{"unavailableReplicas", int64(s.UnavailableReplicas)},
			counter{"terminatingReplicas", orZero(s.TerminatingReplicas)}, counter{"collisionCount", orZero(s.CollisionCount)}),
		notMore(p, s.Replicas, aboveReplicas, counter{"updatedReplicas", int64(s.UpdatedReplicas)},
			counter{"readyReplicas", int64(s.ReadyReplicas)}, counter{"availableReplicas", int64(s.AvailableReplicas)}),
		notMore(p, s.ReadyReplicas, aboveReady, counter{"availableReplicas", int64(s.AvailableReplicas)}),
		notDecremented(s.CollisionCount, old.Status.CollisionCount, p.Child("collisionCount")))
}

// ReplicaSet holds the rules of apps/v1 ReplicaSets.
func ReplicaSet(rs, old *appsv1.ReplicaSet) field.ErrorList {
	s, p := &rs.Spec, field.NewPath("spec")
	errs := concat(metaEither(&rs.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain),
		optionalNonNegative(s.Replicas, p.Child("replicas")), nonNegative(s.MinReadySeconds, p.Child("minReadySeconds")))
	selector, wrong := selectorOf(s.Selector, p.Child("selector"), "empty selector is invalid for deployment")
	errs = append(errs, wrong...)
	if selector == nil {
		errs = append(errs, field.Invalid(p.Child("selector"), s.Selector, "invalid label selector"))
	} else {
		errs = append(errs, replicaTemplate(&s.Template, selector, p.Child("template"))...)
	}
	if old != nil {
		errs = append(errs, unchanged(s.Selector, old.Spec.Selector, p.Child("selector"))...)
	}
	return errs
}

// ReplicaSetStatus holds the rules of a write to replicasets/status.
func ReplicaSetStatus(rs, old *appsv1.ReplicaSet) field.ErrorList {
	s, p := &rs.Status, field.NewPath("status")
	return concat(metaUpdate(&rs.ObjectMeta, &old.ObjectMeta),
		replicaCounts(p, s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.ObservedGeneration),
		counters(p, counter{"terminatingReplicas", orZero(s.TerminatingReplicas)}))
}

// replicaCounts holds the rules that ReplicaSets and ReplicationControllers share.
func replicaCounts(p *field.Path, replicas, labeled, ready, available int32, generation int64) field.ErrorList {
	return concat(
		counters(p, counter{"replicas", int64(replicas)}, counter{"fullyLabeledReplicas", int64(labeled)}, counter{"readyReplicas", int64(ready)},
			counter{"availableReplicas", int64(available)}, counter{"observedGeneration", generation}),
		notMore(p, replicas, aboveReplicas, counter{"fullyLabeledReplicas", int64(labeled)}, counter{"readyReplicas", int64(ready)},
			counter{"availableReplicas", int64(available)}),
		notMore(p, ready, aboveReady, counter{"availableReplicas", int64(available)}))
}

// ReplicationController holds the rules of core/v1 ReplicationControllers.
func ReplicationController(rc, old *corev1.ReplicationController) field.ErrorList {
	s, p := &rc.Spec, field.NewPath("spec")
	selector := labels.Set(s.Selector).AsSelector()
	errs := append(metaEither(&rc.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain),
		refuse(selector.Empty(), field.Required(p.Child("selector"), ""))...)
	if at := p.Child("template"); s.Template == nil {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, concat(templateMatches(s.Template, selector, at), podTemplate(s.Template, at),
			alwaysRunning(s.Template, at, "ReplicationController"))...)
	}
	// These are declared on the type, and Kubernetes looks at them last.
	return concat(errs, optionalNonNegative(s.Replicas, p.Child("replicas")), nonNegative(s.MinReadySeconds, p.Child("minReadySeconds")))
}

// ReplicationControllerStatus holds the rules of a write to replicationcontrollers/status.
func ReplicationControllerStatus(rc, old *corev1.ReplicationController) field.ErrorList {
	s := &rc.Status
	return append(metaUpdate(&rc.ObjectMeta, &old.ObjectMeta),
		replicaCounts(field.NewPath("status"), s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.ObservedGeneration)...)
}

// ControllerRevision holds the rules of apps/v1 ControllerRevisions, whose data
// never changes.
func ControllerRevision(r, old *appsv1.ControllerRevision) field.ErrorList {
	p := field.NewPath("data")
	errs := concat(metaBoth(&r.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain),
		refuse(r.Data.Raw == nil && r.Data.Object == nil, field.Required(p, "data is mandatory")),
		nonNegative(r.Revision, field.NewPath("revision")))
	if old != nil {
		errs = append(errs, unchanged(r.Data, old.Data, p)...)
	}
	return errs
}
