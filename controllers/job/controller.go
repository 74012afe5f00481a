package job

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

const component = "job-controller"

// Controller reconciles Jobs.
type Controller struct {
	client kubernetes.Interface
	events record.EventRecorder
	clock  clock.PassiveClock
	logger *slog.Logger
	lister batchlisters.JobLister
	cache  struct{ jobs, pods cache.Indexer }
	// What the caches must show before the next step: Jobs and pods that were
	// written, pods that were deleted, and pods that lost their finalizer.
	expecting struct{ jobs, pods, untracked *children.Expectations }
	delays    memory
}

// New connects the controller to its informers. Its keys are Jobs, and pods that
// may have lost theirs.
func New(env runner.Env) (runner.Controller, error) {
	jobs := env.Informers.Batch().V1().Jobs()
	pods := env.Informers.Core().V1().Pods().Informer()
	if err := children.Index(pods); err != nil {
		return runner.Controller{}, err
	}
	c := &Controller{
		client: env.Client, events: env.Events(component), clock: env.Clock, logger: env.Logger, lister: jobs.Lister(),
		delays: memory{byKey: map[runner.Key]delays{}},
	}
	c.cache.jobs, c.cache.pods = jobs.Informer().GetIndexer(), pods.GetIndexer()
	c.expecting.jobs, c.expecting.pods, c.expecting.untracked = children.NewExpectations(), children.NewExpectations(), children.NewExpectations()
	resource := batchv1.Resource("jobs")
	return runner.Controller{
		Name: component, Resource: resource, Reconcile: c.Reconcile, ObjectOf: objectOf,
		Watches: []runner.Watch{
			{Resource: resource, Informer: jobs.Informer(), Keys: c.ofJob},
			{Resource: corev1.Resource("pods"), Informer: pods, Keys: c.ofPod},
		},
	}, nil
}

// ofJob names a Job, and the pods of one that went.
func (c *Controller) ofJob(job metav1.Object) []runner.Key {
	keys := runner.Self(job)
	if there, err := c.lister.Jobs(job.GetNamespace()).Get(job.GetName()); err == nil && there.UID == job.GetUID() {
		return keys
	}
	for _, pod := range children.Of[*corev1.Pod](c.cache.pods, job.GetUID()) {
		if tracked(pod) {
			keys = append(keys, orphanKey(pod))
		}
	}
	return keys
}

// ofPod names a pod's Job, or those that would adopt it, and the pod itself if
// it may be an orphan.
func (c *Controller) ofPod(obj metav1.Object) []runner.Key {
	pod := obj.(*corev1.Pod)
	var keys []runner.Key
	if tracked(pod) && c.jobOf(pod) == nil {
		keys = append(keys, orphanKey(pod))
	}
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if ref.Kind == kind.Kind && ref.APIVersion == kind.GroupVersion().String() {
			keys = append(keys, runner.Key{Namespace: pod.Namespace, Name: ref.Name})
		}
		return keys
	}
	all, err := c.lister.Jobs(pod.Namespace).List(labels.Everything())
	if err != nil {
		return keys // a lister's never fails
	}
	for _, job := range all {
		if selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector); err == nil && !selector.Empty() && selector.Matches(labels.Set(pod.Labels)) {
			keys = append(keys, cache.MetaObjectToName(job))
		}
	}
	return keys
}

// Reconcile takes the next step of one Job, or lets an orphaned pod go.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	if pod, isOrphan := orphanName(key); isOrphan {
		return 0, c.releaseOrphan(ctx, key, pod)
	}
	cached, err := c.lister.Jobs(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.expecting.jobs.Forget(key)
		c.expecting.pods.Forget(key)
		c.expecting.untracked.Forget(key)
		c.delays.set(key, delays{})
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !c.settled(key, cached.UID) {
		runner.Decide(ctx, "wait until the cache shows what was written last")
		return 0, nil
	}
	// Again, now that the cache is known to show all that was written.
	if cached, err = c.lister.Jobs(key.Namespace).Get(key.Name); err != nil {
		return 0, err
	}
	switch {
	case managedElsewhere(cached):
		return 0, nil
	case finished(cached):
		c.delays.set(key, delays{})
		return 0, nil
	}
	pods, err := c.claim(ctx, key, cached)
	if err != nil {
		return 0, err
	}
	now := c.clock.Now()
	return c.step(ctx, key, cached, newScene(started(cached, now), pods, c.delays.get(key), now))
}

// started is a Job with its start time, which comes with the first look at it.
func started(cached *batchv1.Job, now time.Time) *batchv1.Job {
	if cached.Status.StartTime != nil || suspended(cached) {
		return cached
	}
	job := *cached // the cache's parts are shared, not changed
	at := metav1.NewTime(now).Rfc3339Copy()
	job.Status.StartTime = &at
	return &job
}

// step acts, and accounts for the pods that have ended: first it writes down
// which, then it lets them go, then it writes how many there were.
func (c *Controller) step(ctx context.Context, key runner.Key, cached *batchv1.Job, s scene) (time.Duration, error) {
	p := decide(s)
	o, failed := c.act(ctx, key, s, p)
	a := newAccount(s, p, o)
	written := cached
	var err error
	if len(a.release) > 0 {
		if written, err = c.writeStatus(ctx, key, written, a.status); err != nil || written == nil {
			return 0, err
		}
		c.delays.set(key, s.delays)
	}
	released, releaseFailed := c.releaseAll(ctx, key, a.release)
	a.settle(s, released)
	if written, err = c.writeStatus(ctx, key, written, a.status); err != nil || written == nil {
		return 0, err
	}
	for _, event := range a.told {
		c.events.Event(s.job, event.kind, event.reason, event.message)
	}
	if releaseFailed != nil {
		return 0, fmt.Errorf("tracking status: %w", releaseFailed)
	}
	return p.again, failed
}

func managedElsewhere(job *batchv1.Job) bool {
	return job.Spec.ManagedBy != nil && *job.Spec.ManagedBy != batchv1.JobControllerName
}

func (c *Controller) settled(key runner.Key, uid types.UID) bool {
	cached := func(is func(*corev1.Pod) bool) func(types.UID) bool {
		return func(pod types.UID) bool {
			for _, p := range children.Of[*corev1.Pod](c.cache.pods, uid) {
				if p.UID == pod {
					return is(p)
				}
			}
			return false
		}
	}
	stays := func(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil }
	return c.expecting.jobs.Fulfilled(key, c.cache.jobs.LastStoreSyncResourceVersion(), nil) &&
		c.expecting.pods.Fulfilled(key, c.cache.pods.LastStoreSyncResourceVersion(), cached(stays)) &&
		c.expecting.untracked.Fulfilled(key, "", cached(tracked))
}

// claim finds a Job's pods, after adopting and releasing.
func (c *Controller) claim(ctx context.Context, key runner.Key, job *batchv1.Job) ([]*corev1.Pod, error) {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("selector: %w", err)
	}
	owner := children.Owner{Object: job, Kind: kind, Selector: selector, Finalizers: []string{batchv1.JobTrackingFinalizer}}
	claims := children.Sort(owner,
		children.Of[*corev1.Pod](c.cache.pods, job.UID),
		children.Orphans[*corev1.Pod](c.cache.pods, job.Namespace))
	return children.Claimant[*corev1.Pod]{
		Patch: func(ctx context.Context, pod *corev1.Pod, patch []byte) (*corev1.Pod, error) {
			patched, err := c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
			if err == nil {
				c.expecting.pods.Wrote(key, patched.ResourceVersion)
			}
			return patched, err
		},
		Recheck: func(ctx context.Context) (metav1.Object, error) {
			return c.client.BatchV1().Jobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		},
	}.Settle(ctx, owner, claims)
}

// writeStatus writes a status that differs. It returns the Job as it is then,
// nil if it is gone.
func (c *Controller) writeStatus(ctx context.Context, key runner.Key, job *batchv1.Job, status *batchv1.JobStatus) (*batchv1.Job, error) {
	if equality.Semantic.DeepEqual(&job.Status, status) {
		return job, nil
	}
	updated := *job // the cache's parts are shared, not changed
	updated.Status = *status
	answer, err := c.client.BatchV1().Jobs(job.Namespace).UpdateStatus(ctx, &updated, metav1.UpdateOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("tracking status: %w", err)
	}
	c.expecting.jobs.Wrote(key, answer.ResourceVersion)
	return answer, nil
}
