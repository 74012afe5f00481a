package deployment

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

// rollout is one reconcile of a Deployment. It puts decisions into effect and
// keeps the family at what the server answered.
type rollout struct {
	*Controller
	family
	key runner.Key
	now time.Time
	// checkAfter is when time alone may change the status.
	checkAfter time.Duration
}

// step takes the one step that comes next.
func (r *rollout) step(ctx context.Context) error {
	if r.d.DeletionTimestamp != nil {
		return r.writeStatus(ctx, r.sums(r.now))
	}
	if condition := r.pauseCondition(r.now); condition != nil {
		setCondition(&r.d.Status, *condition)
		if err := r.writeDeployment(ctx); err != nil {
			return err
		}
	}
	switch {
	case r.d.Spec.Paused || r.rescaled():
		return r.scale(ctx)
	case r.rolling():
		return r.roll(ctx)
	}
	return r.recreate(ctx)
}

// scale serves a paused or rescaled Deployment: sizes change, templates don't.
func (r *rollout) scale(ctx context.Context) error {
	if err := r.syncRevision(ctx); err != nil {
		return err
	}
	if err := r.resize(ctx, r.spread()); err != nil {
		return err
	}
	if r.d.Spec.Paused {
		if err := r.cleanUp(ctx); err != nil {
			return err
		}
	}
	return r.writeStatus(ctx, r.sums(r.now))
}

// roll scales the new ReplicaSet up, else the old ones down, else it cleans up.
func (r *rollout) roll(ctx context.Context) error {
	if err := r.ensureNewSet(ctx); err != nil || r.newSet() == nil {
		return err
	}
	changes := r.growNew()
	if len(changes) == 0 {
		changes = r.shrinkOld()
	}
	return r.advance(ctx, changes)
}

// recreate takes all old pods away before it makes the first new one.
func (r *rollout) recreate(ctx context.Context) error {
	if err := r.syncRevision(ctx); err != nil {
		return err
	}
	changes := to(0, active(r.oldSets())...)
	if len(changes) > 0 || r.oldPodsRun() {
		if err := r.resize(ctx, changes); err != nil {
			return err
		}
		runner.Decide(ctx, "old pods must be gone before new ones are made")
		return r.report(ctx)
	}
	if err := r.ensureNewSet(ctx); err != nil || r.newSet() == nil {
		return err
	}
	return r.advance(ctx, to(r.want(), r.newSet()))
}

// oldPodsRun tells whether pods of other templates have not ended.
func (r *rollout) oldPodsRun() bool {
	for _, set := range r.oldSets() {
		if set.Status.Replicas > 0 {
			return true
		}
		for _, pod := range children.Of[*corev1.Pod](r.cache.pods, set.UID) {
			if !children.Finished(pod) {
				return true
			}
		}
	}
	return false
}

// advance makes the changes, or cleans up when there is nothing left to roll out.
func (r *rollout) advance(ctx context.Context, changes []change) error {
	if err := r.resize(ctx, changes); err != nil {
		return err
	}
	if len(changes) == 0 && r.complete(&r.d.Status) {
		if err := r.cleanUp(ctx); err != nil {
			return err
		}
	}
	return r.report(ctx)
}

// resize gives ReplicaSets their new sizes, and notes on them what the
// Deployment wanted.
func (r *rollout) resize(ctx context.Context, changes []change) error {
	for _, change := range changes {
		set := r.byUID(change.set.UID).DeepCopy()
		before := *set.Spec.Replicas
		*set.Spec.Replicas = change.to
		if !r.annotateSizes(set) && before == change.to {
			continue
		}
		if err := r.updateSet(ctx, set); err != nil {
			return err
		}
		if before == change.to {
			continue
		}
		direction := "up"
		if change.to < before {
			direction = "down"
		}
		runner.Decide(ctx, "want %d, scale %s %s from %d to %d", r.want(), set.Name, direction, before, change.to)
		r.logger.Info("Scaled ReplicaSet", "replicaset", set.Namespace+"/"+set.Name, "from", before, "to", change.to)
		r.events.Eventf(r.d, corev1.EventTypeNormal, "ScalingReplicaSet", "Scaled %s replica set %s from %d to %d", direction, set.Name, before, change.to)
	}
	return nil
}

func (r *rollout) updateSet(ctx context.Context, set *appsv1.ReplicaSet) error {
	updated, err := r.client.AppsV1().ReplicaSets(set.Namespace).Update(ctx, set, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	r.owned.Wrote(r.key, updated.ResourceVersion)
	r.put(updated)
	return nil
}

// cleanUp deletes old ReplicaSets beyond the history limit.
func (r *rollout) cleanUp(ctx context.Context) error {
	for _, set := range r.expendable() {
		runner.Decide(ctx, "delete %s, beyond the history limit of %d", set.Name, *r.d.Spec.RevisionHistoryLimit)
		err := r.client.AppsV1().ReplicaSets(set.Namespace).Delete(ctx, set.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// report writes the status with the rollout's progress.
func (r *rollout) report(ctx context.Context) error {
	status := r.progress(r.now)
	r.checkAfter = r.nextCheck(&status, r.now)
	return r.writeStatus(ctx, status)
}

func (r *rollout) writeStatus(ctx context.Context, status appsv1.DeploymentStatus) error {
	if equality.Semantic.DeepEqual(r.d.Status, status) {
		return nil
	}
	r.d.Status = status
	return r.writeDeployment(ctx)
}

// writeDeployment writes the status, and the revision annotation that a write
// to the status subresource may carry.
func (r *rollout) writeDeployment(ctx context.Context) error {
	updated, err := r.client.AppsV1().Deployments(r.d.Namespace).UpdateStatus(ctx, r.d, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	r.own.Wrote(r.key, updated.ResourceVersion)
	r.d = updated
	return nil
}

// observeOnly notes a generation that nothing is done about.
func (r *rollout) observeOnly(ctx context.Context, d *appsv1.Deployment) error {
	r.d = d
	if d.Status.ObservedGeneration >= d.Generation {
		return nil
	}
	d.Status.ObservedGeneration = d.Generation
	return r.writeDeployment(ctx)
}
