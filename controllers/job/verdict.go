package job

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// verdict tells how a Job ends, nil while it goes on. SuccessCriteriaMet and
// FailureTarget are put into the status first, Complete and Failed once all pods
// are gone. Enough completions are no verdict here: those that still run may.
func (s *scene) verdict() *batchv1.JobCondition {
	if met := trueCondition(&s.job.Status, batchv1.JobSuccessCriteriaMet); met != nil {
		return met
	}
	if target := trueCondition(&s.job.Status, batchv1.JobFailureTarget); target != nil {
		return target
	}
	if message := s.failedByPolicy(); message != "" {
		return s.fails(batchv1.JobReasonPodFailurePolicy, message)
	}
	switch {
	case s.failed > *s.job.Spec.BackoffLimit || s.restartedTooOften():
		return s.fails(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	case s.activeFor() < 0:
		return s.fails(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	case !isIndexed(s.job):
		return nil
	}
	if condition := s.failedIndexesVerdict(); condition != nil {
		return condition
	}
	if i := succeedsBy(s.job.Spec.SuccessPolicy, int(*s.job.Spec.Completions), s.succeededIndexes); i >= 0 {
		return newCondition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, fmt.Sprintf("Matched rules at index %d", i), s.now)
	}
	return nil
}

func (s *scene) fails(reason, message string) *batchv1.JobCondition {
	return newCondition(batchv1.JobFailureTarget, reason, message, s.now)
}

func (s *scene) failedByPolicy() string {
	if s.job.Spec.PodFailurePolicy == nil {
		return ""
	}
	for _, pod := range s.pods {
		if !s.isFailed(pod) {
			continue
		}
		if r := rule(s.job.Spec.PodFailurePolicy, pod); r.message != "" {
			return r.message
		}
	}
	return ""
}

func (s *scene) failedIndexesVerdict() *batchv1.JobCondition {
	failed := s.failedIndexes.total()
	switch limit := s.job.Spec.MaxFailedIndexes; {
	case s.job.Spec.BackoffLimitPerIndex == nil:
	case limit != nil && failed > int(*limit):
		return s.fails(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
	case failed > 0 && failed+s.succeededIndexes.total() >= int(*s.job.Spec.Completions):
		return s.fails(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	}
	return nil
}

// restartedTooOften looks at the restarts of containers, which are a Job's
// retries when its pods restart them.
func (s *scene) restartedTooOften() bool {
	if s.job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	restarts := int32(0)
	for _, pod := range s.pods {
		if pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending {
			continue
		}
		for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
			for i := range statuses {
				restarts += statuses[i].RestartCount
			}
		}
	}
	return restarts > 0 && restarts >= *s.job.Spec.BackoffLimit
}

// activeFor is how long the Job may still be active: negative when it is past
// its deadline, 0 when it has none.
func (s *scene) activeFor() time.Duration {
	if s.job.Spec.ActiveDeadlineSeconds == nil || s.job.Status.StartTime == nil || suspended(s.job) {
		return 0
	}
	left := s.job.Status.StartTime.Add(time.Duration(*s.job.Spec.ActiveDeadlineSeconds) * time.Second).Sub(s.now)
	if left == 0 {
		return -1
	}
	return left
}

func suspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

func newCondition(kind batchv1.JobConditionType, reason, message string, now time.Time) *batchv1.JobCondition {
	at := metav1.NewTime(now).Rfc3339Copy()
	return &batchv1.JobCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastProbeTime: at, LastTransitionTime: at,
	}
}

// trueCondition returns a condition of a status that holds, nil if it doesn't.
func trueCondition(status *batchv1.JobStatus, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range status.Conditions {
		if condition := &status.Conditions[i]; condition.Type == kind && condition.Status == corev1.ConditionTrue {
			return condition
		}
	}
	return nil
}

// finished tells whether a Job is complete or has failed.
func finished(job *batchv1.Job) bool {
	return trueCondition(&job.Status, batchv1.JobComplete) != nil || trueCondition(&job.Status, batchv1.JobFailed) != nil
}
