package statefulset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

// newStatus counts the pods, less those that were just taken away for the update.
func newStatus(s scene, collisionCount, replaced int32) appsv1.StatefulSetStatus {
	status := appsv1.StatefulSetStatus{
		ObservedGeneration: s.set.Generation,
		CurrentRevision:    s.current.name,
		UpdateRevision:     s.update.name,
		CollisionCount:     &collisionCount,
		CurrentReplicas:    -replaced,
		Conditions:         s.set.Status.Conditions,
	}
	for _, pod := range s.pods {
		status.Replicas++
		if ready(pod) {
			status.ReadyReplicas++
			if left, _ := children.AvailableIn(pod, s.set.Spec.MinReadySeconds, s.now); left == 0 {
				status.AvailableReplicas++
			}
		}
		if terminating(pod) {
			continue
		}
		if revisionOf(pod) == s.current.name {
			status.CurrentReplicas++
		}
		if revisionOf(pod) == s.update.name {
			status.UpdatedReplicas++
		}
	}
	completeUpdate(s.set, &status)
	return status
}

// completeUpdate makes the update revision the current one when all pods have it.
func completeUpdate(set *appsv1.StatefulSet, status *appsv1.StatefulSetStatus) {
	want := *set.Spec.Replicas
	if set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType &&
		status.Replicas == want && status.ReadyReplicas == want && status.UpdatedReplicas == want {
		status.CurrentReplicas = status.UpdatedReplicas
		status.CurrentRevision = status.UpdateRevision
	}
}

// nextAvailable is when the next pod will have been ready for long enough; 0 if
// none is waiting for that.
func nextAvailable(s scene) time.Duration {
	var next time.Duration
	for _, pod := range s.pods {
		if left, _ := children.AvailableIn(pod, s.set.Spec.MinReadySeconds, s.now); left > 0 && (next == 0 || left < next) {
			next = left
		}
	}
	return next
}
