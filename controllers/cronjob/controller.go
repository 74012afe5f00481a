package cronjob

import (
	"context"
	"log/slog"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

const component = "cronjob-controller"

// Controller reconciles CronJobs.
type Controller struct {
	client kubernetes.Interface
	events record.EventRecorder
	clock  clock.PassiveClock
	logger *slog.Logger
	lister batchlisters.CronJobLister
	cache  struct{ cronJobs, jobs cache.Indexer }
	// What the caches must show before the next step.
	expecting struct{ cronJobs, jobs *children.Expectations }
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	cronJobs := env.Informers.Batch().V1().CronJobs()
	jobs := env.Informers.Batch().V1().Jobs().Informer()
	if err := children.Index(jobs); err != nil {
		return runner.Controller{}, err
	}
	c := &Controller{client: env.Client, events: env.Events(component), clock: env.Clock, logger: env.Logger, lister: cronJobs.Lister()}
	c.cache.cronJobs, c.cache.jobs = cronJobs.Informer().GetIndexer(), jobs.GetIndexer()
	c.expecting.cronJobs, c.expecting.jobs = children.NewExpectations(), children.NewExpectations()
	resource := batchv1.Resource("cronjobs")
	return runner.Controller{
		Name: component, Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: cronJobs.Informer(), Keys: runner.Self},
			{Resource: batchv1.Resource("jobs"), Informer: jobs, Keys: ofJob},
		},
	}, nil
}

// ofJob names the CronJob of a Job. Others are not adopted.
func ofJob(job metav1.Object) []runner.Key {
	ref := metav1.GetControllerOfNoCopy(job)
	if ref == nil || ref.Kind != kind.Kind || ref.APIVersion != kind.GroupVersion().String() {
		return nil
	}
	return []runner.Key{{Namespace: job.GetNamespace(), Name: ref.Name}}
}

// Reconcile takes the next step of one CronJob.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	cronJob, err := c.lister.CronJobs(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.expecting.cronJobs.Forget(key)
		c.expecting.jobs.Forget(key)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !c.settled(key, cronJob.UID) {
		runner.Decide(ctx, "wait until the cache shows what was written last")
		return 0, nil
	}
	// Again, now that the cache is known to show all that was written.
	if cronJob, err = c.lister.CronJobs(key.Namespace).Get(key.Name); err != nil {
		return 0, err
	}
	s := scene{cronJob: cronJob, jobs: children.Of[*batchv1.Job](c.cache.jobs, cronJob.UID), now: c.clock.Now()}
	if s.missing, err = c.missing(ctx, s); err != nil {
		return 0, err
	}
	p := decide(s)
	for _, e := range p.events {
		c.events.Event(cronJob, e.kind, e.reason, e.message)
	}
	failed := c.act(ctx, key, cronJob, &p)
	if err := c.writeStatus(ctx, key, cronJob, p.status); err != nil {
		return 0, err
	}
	return p.again, failed
}

func (c *Controller) settled(key runner.Key, owner types.UID) bool {
	alive := func(uid types.UID) bool {
		for _, job := range children.Of[*batchv1.Job](c.cache.jobs, owner) {
			if job.UID == uid {
				return job.DeletionTimestamp == nil
			}
		}
		return false
	}
	return c.expecting.cronJobs.Fulfilled(key, c.cache.cronJobs.LastStoreSyncResourceVersion(), nil) &&
		c.expecting.jobs.Fulfilled(key, c.cache.jobs.LastStoreSyncResourceVersion(), alive)
}

// missing asks the API server for active Jobs that the cache does not have: it
// may only be late.
func (c *Controller) missing(ctx context.Context, s scene) (map[types.UID]bool, error) {
	cached := map[types.UID]bool{}
	for _, job := range s.jobs {
		cached[job.UID] = true
	}
	missing := map[types.UID]bool{}
	for _, ref := range s.cronJob.Status.Active {
		if cached[ref.UID] {
			continue
		}
		job, err := c.client.BatchV1().Jobs(s.cronJob.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
		missing[ref.UID] = err != nil || job.UID != ref.UID
	}
	return missing, nil
}

// act carries a plan out, and completes its status.
func (c *Controller) act(ctx context.Context, key runner.Key, cronJob *batchv1.CronJob, p *plan) error {
	runner.Decide(ctx, "%d active, create %t, replace %d, expire %d", len(p.status.Active), !p.create.IsZero(), len(p.replace), len(p.expire))
	for _, job := range p.replace {
		if err := c.remove(ctx, key, cronJob, job); err != nil {
			return err
		}
		p.drop(job.UID)
	}
	if !p.create.IsZero() {
		if err := c.create(ctx, key, cronJob, p); err != nil {
			return err
		}
	}
	for _, job := range p.expire {
		if err := c.remove(ctx, key, cronJob, job); err != nil {
			return err
		}
	}
	return nil
}

func (c *Controller) create(ctx context.Context, key runner.Key, cronJob *batchv1.CronJob, p *plan) error {
	job := newJob(cronJob, p.create)
	created, err := c.client.BatchV1().Jobs(cronJob.Namespace).Create(ctx, job, metav1.CreateOptions{})
	switch {
	case err == nil:
		c.expecting.jobs.Wrote(key, created.ResourceVersion)
		c.logger.Info("Created job", "job", created.Namespace+"/"+created.Name)
		c.events.Eventf(cronJob, corev1.EventTypeNormal, "SuccessfulCreate", "Created job %v", created.Name)
	case children.NamespaceGone(err):
		return nil
	case apierrors.IsAlreadyExists(err):
		// Made by the run before this one, which did not come to write the status.
		created, err = c.client.BatchV1().Jobs(cronJob.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !metav1.IsControlledBy(created, cronJob) {
			return nil
		}
	default:
		c.events.Eventf(cronJob, corev1.EventTypeWarning, "FailedCreate", "Error creating job: %v", err)
		return err
	}
	if outcome(created) == "" {
		p.drop(created.UID)
		p.status.Active = append(p.status.Active, refer(created))
	}
	p.status.LastScheduleTime = &metav1.Time{Time: p.create}
	return nil
}

func (c *Controller) remove(ctx context.Context, key runner.Key, cronJob *batchv1.CronJob, job *batchv1.Job) error {
	background := metav1.DeletePropagationBackground
	err := c.client.BatchV1().Jobs(job.Namespace).Delete(ctx, job.Name, metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: metav1.NewUIDPreconditions(string(job.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) {
		c.events.Eventf(cronJob, corev1.EventTypeWarning, "FailedDelete", "Deleted job: %v", err)
		return err
	}
	c.expecting.jobs.Deleted(key, job.UID)
	c.logger.Info("Deleted job", "job", job.Namespace+"/"+job.Name)
	c.events.Eventf(cronJob, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted job %v", job.Name)
	return nil
}

// writeStatus writes a status that differs.
func (c *Controller) writeStatus(ctx context.Context, key runner.Key, cronJob *batchv1.CronJob, status batchv1.CronJobStatus) error {
	if equality.Semantic.DeepEqual(cronJob.Status, status) {
		return nil
	}
	updated := *cronJob // the cache's parts are shared, not changed
	updated.Status = status
	answer, err := c.client.BatchV1().CronJobs(cronJob.Namespace).UpdateStatus(ctx, &updated, metav1.UpdateOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil // it went meanwhile
	case err != nil:
		return err
	}
	c.expecting.cronJobs.Wrote(key, answer.ResourceVersion)
	return nil
}
