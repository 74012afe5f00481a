package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxUncounted bounds the uids in a status. The rest comes in the next reconcile.
const maxUncounted = 500

// account is what a reconcile writes.
type account struct {
	status *batchv1.JobStatus // before the finalizers go
	// release are the pods to take the finalizer off once the status is written.
	release []*corev1.Pod
	// final is Complete or Failed, nil as long as the Job goes on. It is put into
	// the status when all pods are counted and gone.
	final       *batchv1.JobCondition
	terminating int32
	// told are the events to record once the status is written.
	told []jobEvent
}

type jobEvent struct{ kind, reason, message string }

// newAccount makes the status after a plan was carried out.
func newAccount(s scene, p plan, o outcome) account {
	a := account{status: s.job.Status.DeepCopy(), terminating: s.terminating + o.removed}
	active := int32(len(s.active)) + o.created - o.removed
	ready := s.ready - o.removedReady
	a.status.Active, a.status.Ready, a.status.Terminating = active, &ready, &a.terminating
	if a.status.UncountedTerminatedPods == nil {
		a.status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	verdict := p.verdict
	switch {
	case verdict != nil && !o.all:
		verdict = nil // pods that should be gone are not
	case verdict == nil && s.complete(active):
		verdict = newCondition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods", s.now)
	case verdict == nil && s.job.DeletionTimestamp == nil:
		a.noteSuspension(s)
	}
	a.countEnded(s, verdict)
	if verdict != nil {
		a.conclude(s, verdict)
	}
	return a
}

// complete tells whether all wanted pods have succeeded and none runs.
func (s *scene) complete(active int32) bool {
	if active > 0 {
		return false
	}
	if s.job.Spec.Completions == nil {
		return s.succeeded > 0
	}
	return s.succeeded >= *s.job.Spec.Completions
}

// noteSuspension keeps the condition Suspended. A Job that was never suspended
// has none; one that is resumed starts its time anew.
func (a *account) noteSuspension(s scene) {
	was := slices.IndexFunc(a.status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == batchv1.JobSuspended })
	next := newCondition(batchv1.JobSuspended, "JobSuspended", "Job suspended", s.now)
	event := jobEvent{corev1.EventTypeNormal, "Suspended", "Job suspended"}
	if !suspended(s.job) {
		if was < 0 {
			return
		}
		next.Status, next.Reason, next.Message = corev1.ConditionFalse, "JobResumed", "Job resumed"
		event = jobEvent{corev1.EventTypeNormal, "Resumed", "Job resumed"}
	}
	switch {
	case was < 0:
		a.status.Conditions = append(a.status.Conditions, *next)
	case a.status.Conditions[was].Status == next.Status:
		return
	default:
		a.status.Conditions[was] = *next
	}
	if suspended(s.job) {
		a.status.StartTime = nil
	} else {
		a.status.StartTime = &next.LastTransitionTime
	}
	a.told = append(a.told, event)
}

// countEnded notes the pods that have ended, by index or by uid, and lists them
// for release. With the end of a Job all its pods have ended.
func (a *account) countEnded(s scene, verdict *batchv1.JobCondition) {
	known := s.job.Status.UncountedTerminatedPods
	if known == nil {
		known = &batchv1.UncountedTerminatedPods{}
	}
	a.dropReleased(s.pods, nil)
	uncounted := a.status.UncountedTerminatedPods
	completed := parseIndexes(s.job.Status.CompletedIndexes, completions(s.job))
	var succeeded []int
	for _, pod := range s.inOrder() {
		if !tracked(pod) || !s.releasable(pod, verdict != nil) {
			continue
		}
		a.release = append(a.release, pod)
		failedBefore := slices.Contains(known.Failed, pod.UID)
		switch {
		case pod.Status.Phase == corev1.PodSucceeded && !failedBefore:
			if isIndexed(s.job) {
				if inRange(s.job, pod) && !completed.has(indexOf(pod)) {
					succeeded = append(succeeded, indexOf(pod))
				}
			} else if !slices.Contains(known.Succeeded, pod.UID) {
				uncounted.Succeeded = append(uncounted.Succeeded, pod.UID)
			}
		case s.isFailed(pod) || verdict != nil && verdict.Type != batchv1.JobSuccessCriteriaMet:
			if !failedBefore && (!isIndexed(s.job) || inRange(s.job, pod)) && rule(s.job.Spec.PodFailurePolicy, pod).counts {
				uncounted.Failed = append(uncounted.Failed, pod.UID)
			}
		}
		if len(succeeded)+len(uncounted.Succeeded)+len(uncounted.Failed) >= maxUncounted {
			break
		}
	}
	if isIndexed(s.job) {
		completed = completed.with(succeeded...)
		a.status.Succeeded, a.status.CompletedIndexes = int32(completed.total()), completed.String()
		if s.job.Spec.BackoffLimitPerIndex != nil {
			failed := s.failedIndexes.String()
			a.status.FailedIndexes = &failed
		}
	}
}

func completions(job *batchv1.Job) int {
	if job.Spec.Completions == nil {
		return 0
	}
	return int(*job.Spec.Completions)
}

// inOrder are the pods by completion index, so that those come first that make
// the shortest text.
func (s *scene) inOrder() []*corev1.Pod {
	if !isIndexed(s.job) {
		return s.pods
	}
	return slices.SortedStableFunc(slices.Values(s.pods), func(a, b *corev1.Pod) int { return indexOf(a) - indexOf(b) })
}

// releasable tells whether a pod's finalizer may go. A failed pod keeps it while
// the next pod of its index has to learn how often that failed.
func (s *scene) releasable(pod *corev1.Pod, ends bool) bool {
	if ends || s.job.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	return s.isFailed(pod) && s.replaceable[indexOf(pod)] != pod
}

// conclude puts the verdict into the status, and has the final condition ready.
func (a *account) conclude(s scene, verdict *batchv1.JobCondition) {
	if trueCondition(a.status, verdict.Type) == nil {
		a.status.Conditions = append(a.status.Conditions, *verdict)
	}
	final := batchv1.JobFailed
	if verdict.Type == batchv1.JobSuccessCriteriaMet {
		final = batchv1.JobComplete
	}
	a.final = newCondition(final, verdict.Reason, verdict.Message, s.now)
}

// dropReleased turns uids of pods without finalizer into numbers.
func (a *account) dropReleased(pods []*corev1.Pod, released map[types.UID]bool) {
	held := map[types.UID]bool{}
	for _, pod := range pods {
		held[pod.UID] = tracked(pod) && !released[pod.UID]
	}
	uncounted := a.status.UncountedTerminatedPods
	count := func(uids []types.UID) ([]types.UID, int32) {
		left := slices.DeleteFunc(slices.Clone(uids), func(uid types.UID) bool { return !held[uid] })
		return left, int32(len(uids) - len(left))
	}
	var succeeded, failed int32
	uncounted.Succeeded, succeeded = count(uncounted.Succeeded)
	uncounted.Failed, failed = count(uncounted.Failed)
	a.status.Succeeded += succeeded
	a.status.Failed += failed
}

// settle is the status after the release: pods counted, and the final condition
// if nothing is left to wait for.
func (a *account) settle(s scene, released map[types.UID]bool) {
	a.dropReleased(s.pods, released)
	uncounted := a.status.UncountedTerminatedPods
	if a.final == nil || a.terminating > 0 || len(uncounted.Succeeded)+len(uncounted.Failed) > 0 {
		return
	}
	for _, pod := range s.pods {
		if tracked(pod) && !released[pod.UID] {
			return
		}
	}
	a.status.Conditions = append(a.status.Conditions, *a.final)
	if a.final.Type == batchv1.JobFailed {
		a.told = append(a.told, jobEvent{corev1.EventTypeWarning, a.final.Reason, a.final.Message})
		return
	}
	a.status.CompletionTime = &metav1.Time{Time: a.final.LastTransitionTime.Time}
	if s.job.Spec.Completions != nil && a.status.Succeeded > *s.job.Spec.Completions {
		a.told = append(a.told, jobEvent{corev1.EventTypeWarning, "TooManySucceededPods", "Too many succeeded pods running after completion count reached"})
	}
	a.told = append(a.told, jobEvent{corev1.EventTypeNormal, "Completed", "Job completed"})
}
