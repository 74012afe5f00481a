package deployment

import (
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of the Progressing condition that later decisions depend on.
const (
	reasonAvailable = "NewReplicaSetAvailable"
	reasonTimedOut  = "ProgressDeadlineExceeded"
	reasonPaused    = "DeploymentPaused"
)

// sums is the status but for the rollout's progress.
func (f *family) sums(now time.Time) appsv1.DeploymentStatus {
	terminating := int32(0)
	status := appsv1.DeploymentStatus{
		ObservedGeneration:  f.d.Generation,
		AvailableReplicas:   available(f.sets),
		UnavailableReplicas: max(wanted(f.sets)-available(f.sets), 0),
		TerminatingReplicas: &terminating,
		CollisionCount:      f.d.Status.CollisionCount,
		Conditions:          f.d.Status.DeepCopy().Conditions,
	}
	for _, set := range f.sets {
		status.Replicas += set.Status.Replicas
		status.ReadyReplicas += set.Status.ReadyReplicas
		if set.Status.TerminatingReplicas != nil {
			terminating += *set.Status.TerminatingReplicas
		}
		if set.UID == f.current {
			status.UpdatedReplicas = set.Status.Replicas
		}
	}
	if status.AvailableReplicas >= f.leastAvailable() {
		setCondition(&status, newCondition(appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.", now))
	} else {
		setCondition(&status, newCondition(appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability.", now))
	}
	return status
}

// progress is the whole status of a rollout.
func (f *family) progress(now time.Time) appsv1.DeploymentStatus {
	status := f.sums(now)
	before := findCondition(&f.d.Status, appsv1.DeploymentProgressing)
	// Once all is rolled out, a pod that fails does not make it a rollout again.
	settled := before != nil && before.Reason == reasonAvailable && status.Replicas == status.UpdatedReplicas
	switch {
	case !hasDeadline(f.d):
		dropCondition(&status, appsv1.DeploymentProgressing)
	case !settled:
		f.judge(&status, before, now)
	}
	if failure := f.replicaFailure(); failure != nil {
		setCondition(&status, appsv1.DeploymentCondition{
			Type: appsv1.DeploymentReplicaFailure, Status: failure.Status, Reason: failure.Reason, Message: failure.Message,
			LastTransitionTime: failure.LastTransitionTime, LastUpdateTime: failure.LastTransitionTime,
		})
	} else {
		dropCondition(&status, appsv1.DeploymentReplicaFailure)
	}
	return status
}

// judge sets the Progressing condition: done, going on, or too slow.
func (f *family) judge(status *appsv1.DeploymentStatus, before *appsv1.DeploymentCondition, now time.Time) {
	subject := fmt.Sprintf("Deployment %q", f.d.Name)
	if set := f.newSet(); set != nil {
		subject = fmt.Sprintf("ReplicaSet %q", set.Name)
	}
	switch {
	case f.complete(status):
		setCondition(status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, reasonAvailable, subject+" has successfully progressed.", now))
	case f.progressed(status):
		condition := newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", subject+" is progressing.", now)
		if before != nil && before.Status == corev1.ConditionTrue {
			condition.LastTransitionTime = before.LastTransitionTime
		}
		// The time of the update counts even where nothing else changes: the
		// deadline runs from it.
		dropCondition(status, appsv1.DeploymentProgressing)
		setCondition(status, condition)
	case f.timedOut(status, now):
		setCondition(status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionFalse, reasonTimedOut, subject+" has timed out progressing.", now))
	}
}

// complete tells whether all replicas are of the new template and available.
func (f *family) complete(status *appsv1.DeploymentStatus) bool {
	return status.UpdatedReplicas == f.want() && status.Replicas == f.want() && status.AvailableReplicas == f.want() &&
		status.ObservedGeneration >= f.d.Generation
}

// progressed tells whether the status is nearer to the end than the last one.
func (f *family) progressed(status *appsv1.DeploymentStatus) bool {
	last := &f.d.Status
	return status.UpdatedReplicas > last.UpdatedReplicas ||
		status.Replicas-status.UpdatedReplicas < last.Replicas-last.UpdatedReplicas ||
		status.ReadyReplicas > last.ReadyReplicas ||
		status.AvailableReplicas > last.AvailableReplicas
}

func hasDeadline(d *appsv1.Deployment) bool {
	return d.Spec.ProgressDeadlineSeconds != nil && *d.Spec.ProgressDeadlineSeconds != math.MaxInt32
}

func (f *family) deadline(condition *appsv1.DeploymentCondition) time.Time {
	return condition.LastUpdateTime.Add(time.Duration(*f.d.Spec.ProgressDeadlineSeconds) * time.Second)
}

// timedOut tells whether there was no progress until the deadline.
func (f *family) timedOut(status *appsv1.DeploymentStatus, now time.Time) bool {
	condition := findCondition(status, appsv1.DeploymentProgressing)
	switch {
	case condition == nil || condition.Reason == reasonAvailable:
		return false
	case condition.Reason == reasonTimedOut:
		return true
	}
	return f.deadline(condition).Before(now)
}

// nextCheck is when the deadline may have passed; 0 if there is none to wait
// for. Times are stored in seconds, hence the one more.
func (f *family) nextCheck(status *appsv1.DeploymentStatus, now time.Time) time.Duration {
	condition := findCondition(status, appsv1.DeploymentProgressing)
	if !hasDeadline(f.d) || condition == nil || condition.Reason == reasonTimedOut || f.complete(status) {
		return 0
	}
	return max(f.deadline(condition).Sub(now), 0) + time.Second
}

// pauseCondition is the Progressing condition that says that the deadline does
// not count, or counts again; nil if there is nothing new to say.
func (f *family) pauseCondition(now time.Time) *appsv1.DeploymentCondition {
	before := findCondition(&f.d.Status, appsv1.DeploymentProgressing)
	if !hasDeadline(f.d) || before != nil && before.Reason == reasonTimedOut {
		return nil
	}
	noted := before != nil && before.Reason == reasonPaused
	var condition appsv1.DeploymentCondition
	switch {
	case f.d.Spec.Paused && !noted:
		condition = newCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, reasonPaused, "Deployment is paused", now)
	case !f.d.Spec.Paused && noted:
		condition = newCondition(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentResumed", "Deployment is resumed", now)
	default:
		return nil
	}
	return &condition
}

// replicaFailure is the failure of a ReplicaSet to make pods, the new one's first.
func (f *family) replicaFailure() *appsv1.ReplicaSetCondition {
	sets := f.sets
	if set := f.newSet(); set != nil {
		sets = append([]*appsv1.ReplicaSet{set}, sets...)
	}
	for _, set := range sets {
		for i := range set.Status.Conditions {
			if condition := &set.Status.Conditions[i]; condition.Type == appsv1.ReplicaSetReplicaFailure {
				return condition
			}
		}
	}
	return nil
}

func newCondition(conditionType appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string, now time.Time) appsv1.DeploymentCondition {
	at := metav1.NewTime(now).Rfc3339Copy()
	return appsv1.DeploymentCondition{Type: conditionType, Status: status, Reason: reason, Message: message, LastUpdateTime: at, LastTransitionTime: at}
}

func findCondition(status *appsv1.DeploymentStatus, conditionType appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == conditionType {
			return &status.Conditions[i]
		}
	}
	return nil
}

// setCondition sets a condition unless status and reason are as they were.
func setCondition(status *appsv1.DeploymentStatus, condition appsv1.DeploymentCondition) {
	if old := findCondition(status, condition.Type); old != nil {
		if old.Status == condition.Status && old.Reason == condition.Reason {
			return
		}
		if old.Status == condition.Status {
			condition.LastTransitionTime = old.LastTransitionTime
		}
	}
	dropCondition(status, condition.Type)
	status.Conditions = append(status.Conditions, condition)
}

func dropCondition(status *appsv1.DeploymentStatus, conditionType appsv1.DeploymentConditionType) {
	var kept []appsv1.DeploymentCondition
	for _, condition := range status.Conditions {
		if condition.Type != conditionType {
			kept = append(kept, condition)
		}
	}
	status.Conditions = kept
}
