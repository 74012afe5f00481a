package deployment

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/controllers/runner"
)

// ensureNewSet makes the ReplicaSet of the current template or brings it up to
// date. Without an error there may still be none: its name was taken, and the
// next try will have another.
func (r *rollout) ensureNewSet(ctx context.Context) error {
	if r.newSet() != nil {
		return r.syncRevision(ctx)
	}
	want := r.construct()
	set, err := r.client.AppsV1().ReplicaSets(want.Namespace).Create(ctx, want, metav1.CreateOptions{})
	switch {
	case err == nil:
		return r.created(ctx, set)
	case apierrors.IsAlreadyExists(err):
		return r.takenName(ctx, want)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // the namespace's end will be the Deployment's
	}
	return r.creationFailed(ctx, want, err)
}

func (r *rollout) created(ctx context.Context, set *appsv1.ReplicaSet) error {
	r.owned.Wrote(r.key, set.ResourceVersion)
	r.put(set)
	r.current = set.UID
	runner.Decide(ctx, "create ReplicaSet %s for the template, with %d of %d replicas", set.Name, *set.Spec.Replicas, r.want())
	r.logger.Info("Created ReplicaSet", "replicaset", set.Namespace+"/"+set.Name, "replicas", *set.Spec.Replicas)
	if *set.Spec.Replicas > 0 {
		r.events.Eventf(r.d, corev1.EventTypeNormal, "ScalingReplicaSet", "Scaled up replica set %s from 0 to %d", set.Name, *set.Spec.Replicas)
	}
	changed := r.setRevision(set)
	if hasDeadline(r.d) {
		setCondition(&r.d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetCreated", fmt.Sprintf("Created new replica set %q", set.Name), r.now))
		changed = true
	}
	if changed {
		return r.writeDeployment(ctx)
	}
	return nil
}

// takenName handles an existing object of the wanted name: either it is the
// one, only not in the cache yet, or another hash is needed.
func (r *rollout) takenName(ctx context.Context, want *appsv1.ReplicaSet) error {
	set, err := r.client.AppsV1().ReplicaSets(want.Namespace).Get(ctx, want.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if metav1.IsControlledBy(set, r.d) && sameTemplate(&set.Spec.Template, &r.d.Spec.Template) {
		r.put(set)
		r.current = set.UID
		return r.syncRevision(ctx)
	}
	count := int32(1)
	if r.d.Status.CollisionCount != nil {
		count += *r.d.Status.CollisionCount
	}
	r.d.Status.CollisionCount = &count
	runner.Decide(ctx, "ReplicaSet %s is not ours, take another hash", want.Name)
	return r.writeDeployment(ctx)
}

func (r *rollout) creationFailed(ctx context.Context, want *appsv1.ReplicaSet, cause error) error {
	const reason = "ReplicaSetCreateError"
	message := fmt.Sprintf("Failed to create new replica set %q: %v", want.Name, cause)
	r.events.Event(r.d, corev1.EventTypeWarning, reason, message)
	if !hasDeadline(r.d) {
		return cause
	}
	status := *r.d.Status.DeepCopy()
	setCondition(&status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, reason, message, r.now))
	if err := r.writeStatus(ctx, status); err != nil {
		return err
	}
	return cause
}

// syncRevision brings the annotations of the new ReplicaSet, if there is one,
// and the revision of the Deployment up to date.
func (r *rollout) syncRevision(ctx context.Context) error {
	if r.newSet() == nil {
		return nil
	}
	set := r.newSet().DeepCopy()
	changed := r.annotate(set)
	if set.Spec.MinReadySeconds != r.d.Spec.MinReadySeconds {
		set.Spec.MinReadySeconds, changed = r.d.Spec.MinReadySeconds, true
	}
	if changed {
		if err := r.updateSet(ctx, set); err != nil {
			return err
		}
	}
	changed = r.setRevision(set)
	if hasDeadline(r.d) && findCondition(&r.d.Status, appsv1.DeploymentProgressing) == nil {
		setCondition(&r.d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "FoundNewReplicaSet", fmt.Sprintf("Found new replica set %q", set.Name), r.now))
		changed = true
	}
	if changed {
		return r.writeDeployment(ctx)
	}
	return nil
}

// setRevision gives the Deployment its new ReplicaSet's revision.
func (r *rollout) setRevision(set *appsv1.ReplicaSet) bool {
	revision := set.Annotations[revisionAnnotation]
	if r.d.Annotations[revisionAnnotation] == revision {
		return false
	}
	metav1.SetMetaDataAnnotation(&r.d.ObjectMeta, revisionAnnotation, revision)
	return true
}
