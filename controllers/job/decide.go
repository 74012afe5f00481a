package job

import (
	"cmp"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

// burst is how many pods are created, or deleted, in one reconcile.
const burst = 500

// unindexed stands for the index of a pod that has none.
const unindexed = -1

// plan is what a reconcile does about pods: it creates or deletes, never both.
type plan struct {
	verdict *batchv1.JobCondition
	create  []int // completion indexes
	remove  []*corev1.Pod
	// uncounted pods are not wanted any more: their finalizer goes first, so that
	// they don't count as failed.
	uncounted bool
	// again is when time alone gives more to do.
	again time.Duration
}

// decide plans which pods come and go.
func decide(s scene) plan {
	p := plan{verdict: s.verdict()}
	switch {
	case p.verdict != nil:
		p.remove = s.active
	case s.job.DeletionTimestamp != nil:
	case suspended(s.job):
		p.remove, p.uncounted = s.active, true
	default:
		s.manage(&p)
		p.again = sooner(p.again, s.activeFor())
	}
	p.remove = p.remove[:min(len(p.remove), s.burstOf(p))]
	return p
}

// burstOf does not bound the end of a Job: that is noted only when all its pods are gone.
func (s *scene) burstOf(p plan) int {
	if p.verdict != nil || suspended(s.job) {
		return math.MaxInt
	}
	return burst
}

// sooner is the shorter of two durations of which 0 means never.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return max(b, 0)
	}
	return a
}

// manage brings the number of pods to what is wanted.
func (s *scene) manage(p *plan) {
	want := s.wanted()
	if p.remove = s.superfluous(max(0, len(s.active)-want)); len(p.remove) > 0 {
		p.uncounted = true
		return
	}
	missing := want - len(s.active)
	if replacesOnlyFailed(s.job) {
		missing -= int(s.terminating)
	}
	if missing <= 0 {
		return
	}
	missing = min(missing, burst)
	switch perIndex := s.job.Spec.BackoffLimitPerIndex != nil; {
	case perIndex:
		p.create, p.again = s.dueIndexes(missing)
	case s.delays.left(s.now) > 0:
		p.again = s.delays.left(s.now)
	case isIndexed(s.job):
		p.create = s.pendingIndexes(missing)
	default:
		p.create = slices.Repeat([]int{unindexed}, missing)
	}
}

// wanted is how many pods should run. A Job without completions is a work
// queue: when one pod has found it empty, no more are made.
func (s *scene) wanted() int {
	parallelism := int(*s.job.Spec.Parallelism)
	if s.job.Spec.Completions != nil {
		return min(max(int(*s.job.Spec.Completions-s.succeeded), 0), parallelism)
	}
	if s.succeeded > 0 {
		return len(s.active)
	}
	return parallelism
}

// superfluous are at least n pods to take away: those with an index that
// another pod has, or the Job doesn't, and then those that are missed least.
func (s *scene) superfluous(n int) []*corev1.Pod {
	byAge := slices.SortedFunc(slices.Values(s.active), lessMissed)
	if !isIndexed(s.job) {
		return byAge[:n]
	}
	kept := map[int]bool{}
	var remove, left []*corev1.Pod
	for _, pod := range slices.Backward(byAge) {
		if index := indexOf(pod); !inRange(s.job, pod) || kept[index] {
			remove = append(remove, pod)
		} else {
			kept[index] = true
			left = append(left, pod)
		}
	}
	slices.Reverse(left)
	return append(remove, left[:max(0, n-len(remove))]...)
}

// lessMissed is negative when a is the one to delete rather than b: pods not
// bound, not running, not ready, ready for less time, restarted more often, newer.
func lessMissed(a, b *corev1.Pod) int {
	return cmp.Or(
		no(a.Spec.NodeName == "", b.Spec.NodeName == ""),
		no(a.Status.Phase != corev1.PodRunning, b.Status.Phase != corev1.PodRunning),
		no(!children.Ready(a), !children.Ready(b)),
		children.ReadySince(b).Compare(children.ReadySince(a)),
		int(restarts(b)-restarts(a)),
		b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
		cmp.Compare(a.Name, b.Name),
	)
}

// no puts the pod that lacks something first.
func no(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func restarts(pod *corev1.Pod) (most int32) {
	for i := range pod.Status.ContainerStatuses {
		most = max(most, pod.Status.ContainerStatuses[i].RestartCount)
	}
	return most
}

// pendingIndexes are the first n that need a pod.
func (s *scene) pendingIndexes(n int) []int {
	var running []int
	for _, pod := range s.pods {
		if !inRange(s.job, pod) {
			continue
		}
		if children.Active(pod) || replacesOnlyFailed(s.job) && children.Terminating(pod) {
			running = append(running, indexOf(pod))
		}
	}
	return s.succeededIndexes.union(s.failedIndexes).with(running...).missing(n, int(*s.job.Spec.Completions))
}

// dueIndexes are those of the first n pending ones that have waited for long
// enough after their last failure; if none has, how long that takes.
func (s *scene) dueIndexes(n int) (due []int, again time.Duration) {
	for _, index := range s.pendingIndexes(n) {
		if left := s.indexDelay(index); left > 0 {
			again = sooner(again, left)
		} else {
			due = append(due, index)
		}
	}
	return due, again
}

func (s *scene) indexDelay(index int) time.Duration {
	pod := s.replaceable[index]
	if pod == nil {
		return 0
	}
	return delays{allFailures(pod) + 1, endOf(pod)}.left(s.now)
}
