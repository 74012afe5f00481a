package ttlafterfinished

import (
	"context"
	"log/slog"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/runner"
)

const component = "ttl-after-finished-controller"

// Controller reconciles finished Jobs.
type Controller struct {
	client kubernetes.Interface
	clock  clock.PassiveClock
	logger *slog.Logger
	lister batchlisters.JobLister
}

// New connects the controller to its informer.
func New(env runner.Env) (runner.Controller, error) {
	jobs := env.Informers.Batch().V1().Jobs()
	c := &Controller{client: env.Client, clock: env.Clock, logger: env.Logger, lister: jobs.Lister()}
	resource := batchv1.Resource("jobs")
	return runner.Controller{
		Name: component, Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{{Resource: resource, Informer: jobs.Informer(), Keys: withTTL}},
	}, nil
}

func withTTL(obj metav1.Object) []runner.Key {
	if _, expires := expiry(obj.(*batchv1.Job)); !expires {
		return nil
	}
	return runner.Self(obj)
}

// expiry is when a Job is to go; false if it stays, or goes already.
func expiry(job *batchv1.Job) (time.Time, bool) {
	if job.Spec.TTLSecondsAfterFinished == nil || job.DeletionTimestamp != nil {
		return time.Time{}, false
	}
	for _, condition := range job.Status.Conditions {
		if (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) && condition.Status == corev1.ConditionTrue {
			return condition.LastTransitionTime.Add(time.Duration(*job.Spec.TTLSecondsAfterFinished) * time.Second), true
		}
	}
	return time.Time{}, false
}

// Reconcile deletes one Job, or waits until it is time.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	job, err := c.lister.Jobs(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	at, expires := expiry(job)
	if left := at.Sub(c.clock.Now()); !expires || left > 0 {
		return max(left, 0), nil
	}
	runner.Decide(ctx, "finished %d s ago or more, delete", *job.Spec.TTLSecondsAfterFinished)
	// The resourceVersion lets no deletion follow from an outdated time to live.
	foreground := metav1.DeletePropagationForeground
	err = c.client.BatchV1().Jobs(job.Namespace).Delete(ctx, job.Name, metav1.DeleteOptions{
		PropagationPolicy: &foreground,
		Preconditions:     &metav1.Preconditions{UID: &job.UID, ResourceVersion: &job.ResourceVersion},
	})
	if err == nil {
		c.logger.Info("Deleted job", "job", job.Namespace+"/"+job.Name)
	}
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return 0, err
}
