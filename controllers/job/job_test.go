package job

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var now = time.Unix(1_000_000, 0).UTC()

type edit = func(*batchv1.Job)

func newJob(edits ...edit) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: "default", UID: "job"},
		Spec: batchv1.JobSpec{
			Parallelism: ptr.To[int32](1), Completions: ptr.To[int32](1), BackoffLimit: ptr.To[int32](6),
			CompletionMode: ptr.To(batchv1.NonIndexedCompletion), PodReplacementPolicy: ptr.To(batchv1.TerminatingOrFailed),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c"}}}},
		},
	}
	for _, e := range edits {
		e(job)
	}
	return job
}

func size(parallelism, completions int32) edit {
	return func(job *batchv1.Job) {
		job.Spec.Parallelism, job.Spec.Completions = &parallelism, &completions
	}
}

func indexed(job *batchv1.Job) { job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion) }

func perIndex(limit int32) edit {
	return func(job *batchv1.Job) {
		job.Spec.BackoffLimitPerIndex, job.Spec.BackoffLimit = &limit, ptr.To[int32](1<<30)
	}
}

func failJobOn42(job *batchv1.Job) {
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}},
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
	}}
}

// pods are given as words such as "a b:failed c:1,succeeded"; a number is the
// completion index.
func pods(s *scene, words string) []*corev1.Pod {
	var all []*corev1.Pod
	for word := range strings.FieldsSeq(words) {
		name, traits, _ := strings.Cut(word, ":")
		index := unindexed
		_, _ = fmt.Sscan(strings.Split(traits, ",")[0], &index)
		pod := s.newPod(index)
		pod.Name, pod.UID = name, types.UID(name)
		pod.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour))
		pod.Status.Phase = corev1.PodRunning
		for trait := range strings.SplitSeq(traits, ",") {
			switch trait {
			case "failed":
				pod.Status.Phase = corev1.PodFailed
			case "succeeded":
				pod.Status.Phase = corev1.PodSucceeded
			case "exit42":
				pod.Status.Phase = corev1.PodFailed
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 42}}}}
			case "disrupted":
				pod.Status.Phase = corev1.PodFailed
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
			case "justnow":
				pod.CreationTimestamp = metav1.NewTime(now)
			case "going":
				pod.DeletionTimestamp = &metav1.Time{Time: now}
			case "untracked":
				pod.Finalizers = nil
			case "once":
				pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = "1"
			}
		}
		all = append(all, pod)
	}
	return all
}

func newTestScene(words string, edits ...edit) scene {
	job := started(newJob(edits...), now)
	return newScene(job, pods(&scene{job: job}, words), delays{}, now)
}

func (p plan) words() string {
	var words []string
	if p.verdict != nil {
		words = append(words, p.verdict.Reason)
	}
	for _, index := range p.create {
		words = append(words, fmt.Sprintf("+%d", index))
	}
	for _, pod := range p.remove {
		words = append(words, "-"+pod.Name)
	}
	if p.again > 0 {
		words = append(words, p.again.String())
	}
	return strings.Join(words, " ")
}

func TestDecide(t *testing.T) {
	succeeded := func(n int32) edit { return func(job *batchv1.Job) { job.Status.Succeeded = n } }
	failed := func(n int32) edit { return func(job *batchv1.Job) { job.Status.Failed = n } }
	suspend := func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) }
	workQueue := func(job *batchv1.Job) { job.Spec.Completions, job.Spec.Parallelism = nil, ptr.To[int32](2) }
	onlyFailed := func(job *batchv1.Job) { job.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) }
	deadline := func(job *batchv1.Job) {
		job.Spec.ActiveDeadlineSeconds = ptr.To[int64](60)
		job.Status.StartTime = &metav1.Time{Time: now.Add(-time.Minute)}
	}
	twoOfThem := func(job *batchv1.Job) {
		job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0-2"), SucceededCount: ptr.To[int32](2)}}}
	}
	target := func(job *batchv1.Job) {
		job.Status.Conditions = []batchv1.JobCondition{*newCondition(batchv1.JobFailureTarget, "Because", "", now)}
	}
	for _, test := range []struct {
		name, pods string
		edits      []edit
		want       string
	}{
		{name: "first pod", want: "+-1"},
		{name: "as many as may run", edits: []edit{size(2, 5)}, want: "+-1 +-1"},
		{name: "as many as are left", pods: "a", edits: []edit{size(3, 5), succeeded(3)}, want: "+-1"},
		{name: "it runs", pods: "a", want: ""},
		{name: "too many", pods: "a b", want: "-a"},
		{name: "work queue", pods: "a", edits: []edit{workQueue}, want: "+-1"},
		{name: "work queue that is empty", pods: "a b:succeeded", edits: []edit{workQueue}, want: ""},
		{name: "suspended", pods: "a", edits: []edit{suspend}, want: "-a"},
		{name: "failed long ago", pods: "a:failed", want: "+-1"},
		{name: "failed just now", pods: "a:failed,justnow", want: "10s"},
		{name: "failed three times", pods: "a:failed,justnow b:failed c:failed", want: "40s"},
		{name: "failed too often", pods: "a:failed", edits: []edit{failed(6)}, want: "BackoffLimitExceeded"},
		{name: "the others go too", pods: "a:failed b", edits: []edit{size(2, 2), failed(6)}, want: "BackoffLimitExceeded -b"},
		{name: "what was decided stays so", pods: "a", edits: []edit{target}, want: "Because -a"},
		{name: "past its deadline", pods: "a", edits: []edit{deadline}, want: "DeadlineExceeded -a"},
		{name: "a deleted pod is replaced at once", pods: "a:going", want: "+-1"},
		{name: "or when it has ended", pods: "a:going", edits: []edit{onlyFailed}, want: ""},
		{name: "fails the job", pods: "a:exit42 b", edits: []edit{size(2, 2), failJobOn42}, want: "PodFailurePolicy -b"},
		{name: "disruptions don't count", pods: "a:disrupted", edits: []edit{failed(6), failJobOn42}, want: "+-1"},
		{name: "indexes", edits: []edit{size(3, 5), indexed}, want: "+0 +1 +2"},
		{name: "pending indexes", pods: "a:1 b:2,succeeded", edits: []edit{size(3, 5), indexed}, want: "+0 +3"},
		{name: "an index twice", pods: "a:0 b:0 c:1", edits: []edit{size(2, 2), indexed}, want: "-a"},
		{name: "an index beyond", pods: "a:0 b:5", edits: []edit{size(2, 2), indexed}, want: "-b"},
		{name: "an index fails for good", pods: "a:0,once,failed b:1", edits: []edit{size(2, 2), indexed, perIndex(1)}, want: ""},
		{name: "an index is tried again", pods: "a:0,failed b:1", edits: []edit{size(2, 2), indexed, perIndex(1)}, want: "+0"},
		{name: "an index waits", pods: "a:0,failed,justnow b:1", edits: []edit{size(2, 2), indexed, perIndex(1)}, want: "10s"},
		{name: "all indexes are done, one failed", pods: "a:0,once,failed b:1,succeeded", edits: []edit{size(2, 2), indexed, perIndex(1)}, want: "FailedIndexes"},
		{name: "enough indexes", pods: "a:0,succeeded b:2,succeeded c:4", edits: []edit{size(5, 5), indexed, twoOfThem}, want: "SuccessPolicy -c"},
		{name: "not enough indexes", pods: "a:0,succeeded b:1 c:2 d:3,succeeded e:4", edits: []edit{size(5, 5), indexed, twoOfThem}, want: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := decide(newTestScene(test.pods, test.edits...)).words(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// account carries a plan out as if all requests succeeded.
func carryOut(s scene) account {
	p := decide(s)
	return newAccount(s, p, outcome{created: int32(len(p.create)), removed: int32(len(p.remove)), all: true})
}

func (a *account) words() string {
	s := a.status
	words := fmt.Sprintf("active %d, succeeded %d, failed %d, uncounted %v %v", s.Active, s.Succeeded, s.Failed, s.UncountedTerminatedPods.Succeeded, s.UncountedTerminatedPods.Failed)
	for _, condition := range s.Conditions {
		words += fmt.Sprintf(", %s", condition.Type)
	}
	return words
}

// TestAccounting follows a Job to its end: what is written before the finalizers
// go, and what after.
func TestAccounting(t *testing.T) {
	s := newTestScene("a:succeeded b:failed", size(2, 1))
	a := carryOut(s)
	if got, want := a.words(), "active 0, succeeded 0, failed 0, uncounted [a] [b], SuccessCriteriaMet"; got != want || len(a.release) != 2 {
		t.Errorf("first %s, release %d pods; want %s", got, len(a.release), want)
	}
	half := a
	half.status = a.status.DeepCopy()
	half.settle(s, map[types.UID]bool{"a": true})
	if got, want := half.words(), "active 0, succeeded 1, failed 0, uncounted [] [b], SuccessCriteriaMet"; got != want {
		t.Errorf("when one is released %s, want %s", got, want)
	}
	a.settle(s, map[types.UID]bool{"a": true, "b": true})
	if got, want := a.words(), "active 0, succeeded 1, failed 1, uncounted [] [], SuccessCriteriaMet, Complete"; got != want {
		t.Errorf("in the end %s, want %s", got, want)
	}
}

// TestCountedOnce begins where a crash left off: the status knows the pods, and
// some of them have no finalizer any more.
func TestCountedOnce(t *testing.T) {
	known := func(job *batchv1.Job) {
		job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"a", "b", "gone"}}
	}
	s := newTestScene("a:succeeded b:succeeded,untracked c:succeeded", size(5, 5), known)
	if s.succeeded != 4 {
		t.Errorf("%d have succeeded, want a, b, c and the one that is gone", s.succeeded)
	}
	a := carryOut(s)
	if got, want := a.words(), "active 1, succeeded 2, failed 0, uncounted [a c] []"; got != want || len(a.release) != 2 {
		t.Errorf("%s, release %d pods; want %s", got, len(a.release), want)
	}
}

func TestEndWaitsForTerminatingPods(t *testing.T) {
	s := newTestScene("a b:exit42", size(2, 2), failJobOn42)
	a := carryOut(s)
	a.settle(s, map[types.UID]bool{"a": true, "b": true})
	if got, want := a.words(), "active 0, succeeded 0, failed 2, uncounted [] [], FailureTarget"; got != want || *a.status.Terminating != 1 {
		t.Errorf("%s, %d terminating; want %s", got, *a.status.Terminating, want)
	}
}

func TestFailuresOfAnIndexAreHandedOn(t *testing.T) {
	s := newTestScene("a:0,once,failed", size(1, 2), indexed, perIndex(3))
	if s.releasable(s.pods[0], false) {
		t.Error("released before the next pod has the count")
	}
	if got := s.newPod(0).Annotations[batchv1.JobIndexFailureCountAnnotation]; got != "2" {
		t.Errorf("the next pod knows of %s failures, want 2", got)
	}
	if got := s.newPod(1).Annotations[batchv1.JobIndexFailureCountAnnotation]; got != "0" {
		t.Errorf("another index has %s failures", got)
	}
}

func TestSuspension(t *testing.T) {
	suspend := func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) }
	a := carryOut(newTestScene("a", suspend))
	if got, want := a.words(), "active 0, succeeded 0, failed 0, uncounted [] [], Suspended"; got != want || a.status.StartTime != nil || len(a.told) != 1 {
		t.Errorf("%s, started %v; want %s", got, a.status.StartTime, want)
	}
	was := *a.status
	a = carryOut(newTestScene("", func(job *batchv1.Job) { job.Status = was }))
	if c := a.status.Conditions[0]; c.Reason != "JobResumed" || c.Status != corev1.ConditionFalse || a.status.StartTime == nil || a.status.Active != 1 {
		t.Errorf("resumed: %+v", a.status)
	}
}

func TestDelays(t *testing.T) {
	s := newTestScene("a:failed,justnow b:succeeded", size(2, 3))
	if s.delays.failures != 1 {
		t.Errorf("%d failures since the last success", s.delays.failures)
	}
	s = newTestScene("a:failed b:succeeded,justnow", size(2, 3))
	if s.delays.failures != 0 {
		t.Errorf("%d failures after the success", s.delays.failures)
	}
	if left := (delays{20, now}).left(now); left != maxDelay {
		t.Errorf("at most %v", left)
	}
}
