package job

import (
	"context"
	"fmt"
	"sync/atomic"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

// outcome is how far a plan came.
type outcome struct {
	created, removed, removedReady int32
	all                            bool
}

// act creates or deletes pods as planned.
func (c *Controller) act(ctx context.Context, key runner.Key, s scene, p plan) (outcome, error) {
	words := "go on"
	if p.verdict != nil {
		words = p.verdict.Reason
	}
	runner.Decide(ctx, "%d active, %d succeeded, %d failed: %s, create %d, delete %d", len(s.active), s.succeeded, s.failed, words, len(p.create), len(p.remove))
	var created, removed, removedReady atomic.Int32
	err := children.Parallel(len(p.remove), func(i int) error {
		if err := c.remove(ctx, key, s.job, p.remove[i], p.uncounted); err != nil {
			return err
		}
		removed.Add(1)
		if children.Ready(p.remove[i]) {
			removedReady.Add(1)
		}
		return nil
	})
	if err == nil {
		err = children.SlowStart(len(p.create), func(i int) error {
			made, err := c.create(ctx, key, s.job, s.newPod(p.create[i]))
			created.Add(made)
			return err
		})
	}
	return outcome{created.Load(), removed.Load(), removedReady.Load(), err == nil}, err
}

// create returns how many pods it made: none in a namespace that goes.
func (c *Controller) create(ctx context.Context, key runner.Key, job *batchv1.Job, pod *corev1.Pod) (int32, error) {
	created, err := c.client.CoreV1().Pods(job.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	switch {
	case err == nil:
		c.expecting.pods.Wrote(key, created.ResourceVersion)
		c.logger.Info("Created pod", "pod", created.Namespace+"/"+created.Name)
		c.events.Eventf(job, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %v", created.Name)
		return 1, nil
	case children.NamespaceGone(err):
		return 0, nil
	}
	c.events.Eventf(job, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
	return 0, err
}

func (c *Controller) remove(ctx context.Context, key runner.Key, job *batchv1.Job, pod *corev1.Pod, uncounted bool) error {
	if uncounted {
		if err := c.untrack(ctx, key, pod); err != nil {
			return err
		}
	}
	err := c.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	switch {
	case err == nil:
		c.expecting.pods.Deleted(key, pod.UID)
		c.logger.Info("Deleted pod", "pod", pod.Namespace+"/"+pod.Name)
		c.events.Eventf(job, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %v", pod.Name)
		return nil
	case apierrors.IsNotFound(err):
		c.expecting.pods.Deleted(key, pod.UID)
		return nil
	}
	c.events.Eventf(job, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
	return err
}

// untrack takes the tracking finalizer off a pod. One that is being deleted may
// be gone with that, so no resourceVersion tells when the cache shows it.
func (c *Controller) untrack(ctx context.Context, key runner.Key, pod *corev1.Pod) error {
	if !tracked(pod) {
		return nil
	}
	_, err := c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, untrackPatch(pod), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	c.expecting.untracked.Deleted(key, pod.UID)
	return nil
}

// releaseAll takes the finalizer off pods, and returns the uids of those that
// had it taken off.
func (c *Controller) releaseAll(ctx context.Context, key runner.Key, pods []*corev1.Pod) (map[types.UID]bool, error) {
	done := make([]bool, len(pods))
	err := children.Parallel(len(pods), func(i int) error {
		if err := c.untrack(ctx, key, pods[i]); err != nil {
			return err
		}
		done[i] = true
		return nil
	})
	released := map[types.UID]bool{}
	for i, pod := range pods {
		if done[i] {
			released[pod.UID] = true
		}
	}
	return released, err
}

// untrackPatch names the uid, so that it fails on another pod of that name.
func untrackPatch(pod *corev1.Pod) []byte {
	return fmt.Appendf(nil, `{"metadata":{"uid":%q,"$deleteFromPrimitiveList/finalizers":[%q]}}`, pod.UID, batchv1.JobTrackingFinalizer)
}
