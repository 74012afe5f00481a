package defaults

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Job fills a Job. Its labels, and selector and labels of its pods, are made in
// strategy.Job, since they hold the uid.
func Job(job *batchv1.Job) {
	jobSpec(&job.Spec)
	setNil(&job.Spec.Suspend, false)
	setNil(&job.Spec.ManualSelector, false)
	jobPolicies(&job.Spec)
	PodTemplateSpec(&job.Spec.Template)
}

// jobSpec counts the pods: one, unless the Job is a work queue, that is one
// with parallelism but no completions.
func jobSpec(spec *batchv1.JobSpec) {
	if spec.Completions == nil && spec.Parallelism == nil {
		setNil(&spec.Completions, 1)
	}
	setNil(&spec.Parallelism, 1)
	if spec.BackoffLimitPerIndex != nil {
		setNil(&spec.BackoffLimit, math.MaxInt32)
	}
	setNil(&spec.BackoffLimit, 6)
	setNil(&spec.CompletionMode, batchv1.NonIndexedCompletion)
}

// jobPolicies settles when a failed pod is replaced: once it has surely failed,
// if a policy wants to look at its exit, else as soon as it is terminating.
func jobPolicies(spec *batchv1.JobSpec) {
	if spec.PodFailurePolicy == nil {
		setNil(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
		return
	}
	setNil(&spec.PodReplacementPolicy, batchv1.Failed)
	failureConditions(spec.PodFailurePolicy)
}

func failureConditions(policy *batchv1.PodFailurePolicy) {
	for i := range policy.Rules {
		for j := range policy.Rules[i].OnPodConditions {
			setZero(&policy.Rules[i].OnPodConditions[j].Status, corev1.ConditionTrue)
		}
	}
}

// CronJob fills a CronJob. Its job template is completed when a Job is made of it.
func CronJob(cronJob *batchv1.CronJob) {
	setZero(&cronJob.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
	setNil(&cronJob.Spec.Suspend, false)
	setNil(&cronJob.Spec.SuccessfulJobsHistoryLimit, 3)
	setNil(&cronJob.Spec.FailedJobsHistoryLimit, 1)
	template := &cronJob.Spec.JobTemplate.Spec
	if template.PodFailurePolicy != nil {
		failureConditions(template.PodFailurePolicy)
	}
	PodTemplateSpec(&template.Template)
}
