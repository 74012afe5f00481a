package job

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubesim/kubesim/controllers/children"
)

// scene is a Job with its pods, counted.
type scene struct {
	job  *batchv1.Job
	pods []*corev1.Pod
	now  time.Time
	// delays are those of a Job whose pods failed lately.
	delays delays

	active      []*corev1.Pod // have not ended and stay
	ready       int32
	terminating int32
	// Ended pods that the status does not know yet.
	newSucceeded, newFailed []*corev1.Pod
	// How many have ended, with those.
	succeeded, failed int32
	// Of an indexed Job. failedIndexes has a meaning only with backoffLimitPerIndex.
	succeededIndexes, failedIndexes indexes
	// replaceable is the last failed pod of each index that gets another. It
	// keeps its finalizer until the next one has taken over its count of failures.
	replaceable map[int]*corev1.Pod
}

// newScene counts. It changes neither the Job nor the pods.
func newScene(job *batchv1.Job, pods []*corev1.Pod, known delays, now time.Time) scene {
	s := scene{job: job, pods: pods, now: now}
	for _, pod := range pods {
		switch {
		case children.Active(pod):
			s.active = append(s.active, pod)
			if children.Ready(pod) {
				s.ready++
			}
		case children.Terminating(pod):
			s.terminating++
		}
	}
	uncounted := job.Status.UncountedTerminatedPods
	if uncounted == nil {
		uncounted = &batchv1.UncountedTerminatedPods{}
	}
	s.newSucceeded = s.fresh(uncounted.Succeeded, func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodSucceeded })
	s.newFailed = s.fresh(uncounted.Failed, s.isFailed)
	s.succeeded = job.Status.Succeeded + int32(len(s.newSucceeded)+len(uncounted.Succeeded))
	s.failed = job.Status.Failed + int32(len(uncounted.Failed))
	for _, pod := range s.newFailed {
		if rule(job.Spec.PodFailurePolicy, pod).counts {
			s.failed++
		}
	}
	// A pod that somebody deletes is no reason to wait before the next.
	s.delays = known.after(s.newSucceeded, slices.DeleteFunc(slices.Clone(s.newFailed), func(pod *corev1.Pod) bool { return !children.Finished(pod) }))
	if isIndexed(job) {
		s.countIndexes()
	}
	return s
}

// fresh are the pods that have ended in some way, are not counted yet, and count.
func (s *scene) fresh(uncounted []types.UID, ended func(*corev1.Pod) bool) []*corev1.Pod {
	var found []*corev1.Pod
	for _, pod := range s.pods {
		if tracked(pod) && !slices.Contains(uncounted, pod.UID) && ended(pod) && (!isIndexed(s.job) || inRange(s.job, pod)) {
			found = append(found, pod)
		}
	}
	return found
}

// tracked tells whether a pod has not been accounted for.
func tracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

// isFailed tells whether a pod counts as failed. One that is being deleted does,
// unless the Job waits for its end before it makes another.
func (s *scene) isFailed(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodFailed {
		return true
	}
	return !replacesOnlyFailed(s.job) && pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded
}

// replacesOnlyFailed tells whether a pod that is being deleted counts on until it has ended.
func replacesOnlyFailed(job *batchv1.Job) bool {
	return job.Spec.PodReplacementPolicy != nil && *job.Spec.PodReplacementPolicy == batchv1.Failed || job.Spec.PodFailurePolicy != nil
}

func (s *scene) countIndexes() {
	completions := int(*s.job.Spec.Completions)
	s.succeededIndexes = parseIndexes(s.job.Status.CompletedIndexes, completions)
	var succeeded []int
	for _, pod := range s.pods {
		if tracked(pod) && pod.Status.Phase == corev1.PodSucceeded && inRange(s.job, pod) {
			succeeded = append(succeeded, indexOf(pod))
		}
	}
	s.succeededIndexes = s.succeededIndexes.with(succeeded...)
	s.succeeded = int32(s.succeededIndexes.total())
	if s.job.Spec.BackoffLimitPerIndex != nil {
		s.countFailedIndexes(completions)
		s.replaceable = s.findReplaceable()
	}
}

func (s *scene) countFailedIndexes(completions int) {
	if s.job.Status.FailedIndexes != nil {
		s.failedIndexes = parseIndexes(*s.job.Status.FailedIndexes, completions)
	}
	var failed []int
	for _, pod := range s.pods {
		if inRange(s.job, pod) && s.failsIndex(pod) {
			failed = append(failed, indexOf(pod))
		}
	}
	s.failedIndexes = s.failedIndexes.with(failed...)
}

// failsIndex tells whether a pod was the last try of its index.
func (s *scene) failsIndex(pod *corev1.Pod) bool {
	if !s.isFailed(pod) {
		return false
	}
	r := rule(s.job.Spec.PodFailurePolicy, pod)
	return r.action == batchv1.PodFailurePolicyActionFailIndex ||
		r.counts && failures(pod) >= int(*s.job.Spec.BackoffLimitPerIndex)
}

func (s *scene) findReplaceable() map[int]*corev1.Pod {
	running := map[int]bool{}
	for _, pod := range s.active {
		running[indexOf(pod)] = true
	}
	last := map[int]*corev1.Pod{}
	for _, pod := range s.pods {
		index := indexOf(pod)
		if !tracked(pod) || !inRange(s.job, pod) || !s.isFailed(pod) || running[index] || s.succeededIndexes.has(index) || s.failedIndexes.has(index) {
			continue
		}
		if other := last[index]; other == nil || allFailures(other) < allFailures(pod) {
			last[index] = pod
		}
	}
	return last
}

// failures is how often the index of a pod had failed before the pod;
// allFailures has those that a policy ignored too.
func failures(pod *corev1.Pod) int { return number(pod, batchv1.JobIndexFailureCountAnnotation) }

func allFailures(pod *corev1.Pod) int {
	return failures(pod) + number(pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

func number(pod *corev1.Pod, annotation string) int {
	n, err := strconv.Atoi(pod.Annotations[annotation])
	if err != nil || n < 0 {
		return 0
	}
	return n
}
