package replicaset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubesim/kubesim/controllers/children"
)

// newStatus counts a ReplicaSet's pods and notes what failed in this reconcile.
func newStatus(set *appsv1.ReplicaSet, pods claimed, failed error, now time.Time) appsv1.ReplicaSetStatus {
	terminating := int32(len(pods.terminating))
	status := appsv1.ReplicaSetStatus{
		ObservedGeneration:  set.Generation,
		Replicas:            int32(len(pods.active)),
		TerminatingReplicas: &terminating,
	}
	template := labels.Set(set.Spec.Template.Labels).AsSelectorPreValidated()
	for _, pod := range pods.active {
		if template.Matches(labels.Set(pod.Labels)) {
			status.FullyLabeledReplicas++
		}
		left, ready := children.AvailableIn(pod, set.Spec.MinReadySeconds, now)
		if ready {
			status.ReadyReplicas++
		}
		if ready && left == 0 {
			status.AvailableReplicas++
		}
	}
	status.Conditions = conditions(set, failed, len(pods.active), now)
	return status
}

// conditions sets or drops ReplicaFailure, the only one there is.
func conditions(set *appsv1.ReplicaSet, failed error, have int, now time.Time) []appsv1.ReplicaSetCondition {
	old := failure(&set.Status)
	switch {
	case failed == nil && old == nil, failed != nil && old != nil:
		return set.Status.Conditions
	case failed == nil:
		var kept []appsv1.ReplicaSetCondition
		for _, condition := range set.Status.Conditions {
			if condition.Type != appsv1.ReplicaSetReplicaFailure {
				kept = append(kept, condition)
			}
		}
		return kept
	}
	reason := "FailedCreate"
	if have > int(*set.Spec.Replicas) {
		reason = "FailedDelete"
	}
	return append(set.Status.DeepCopy().Conditions, appsv1.ReplicaSetCondition{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: reason, Message: failed.Error(),
		LastTransitionTime: metav1.NewTime(now).Rfc3339Copy(),
	})
}

func failure(status *appsv1.ReplicaSetStatus) *appsv1.ReplicaSetCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == appsv1.ReplicaSetReplicaFailure {
			return &status.Conditions[i]
		}
	}
	return nil
}

func sameStatus(a, b *appsv1.ReplicaSetStatus) bool {
	return equality.Semantic.DeepEqual(a, b)
}

// nextAvailable is when the next pod will have been ready for long enough; 0 if
// none is waiting for that.
func nextAvailable(set *appsv1.ReplicaSet, active []*corev1.Pod, now time.Time) time.Duration {
	var next time.Duration
	if set.Spec.MinReadySeconds == 0 {
		return 0
	}
	for _, pod := range active {
		if left, _ := children.AvailableIn(pod, set.Spec.MinReadySeconds, now); left > 0 && (next == 0 || left < next) {
			next = left
		}
	}
	return next
}
