package daemonset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

// burst is how many pods are created, and how many deleted, in one reconcile.
const burst = 250

// act carries a plan out: deletions first, as they make room.
func (c *Controller) act(ctx context.Context, key runner.Key, s scene, p plan) error {
	runner.Decide(ctx, "%d nodes, create %d pods, delete %d", len(s.nodes), len(p.create), len(p.remove))
	for _, pod := range p.ended {
		c.tellEnded(s, pod)
	}
	remove := p.remove[:min(len(p.remove), burst)]
	if err := children.Parallel(len(remove), func(i int) error { return c.remove(ctx, key, s.ds, remove[i]) }); err != nil {
		return err
	}
	create := p.create[:min(len(p.create), burst)]
	return children.SlowStart(len(create), func(i int) error { return c.create(ctx, key, s, create[i]) })
}

func (c *Controller) tellEnded(s scene, pod *corev1.Pod) {
	if pod.Status.Phase == corev1.PodSucceeded {
		c.events.Eventf(s.ds, corev1.EventTypeNormal, "SucceededDaemonPod", "Found succeeded daemon pod %s/%s on node %s, will try to delete it", pod.Namespace, pod.Name, target(pod))
		return
	}
	c.backoff.failed(placeOf(s.ds, target(pod)), s.now)
	c.events.Eventf(s.ds, corev1.EventTypeWarning, "FailedDaemonPod", "Found failed daemon pod %s/%s on node %s, will try to kill it", pod.Namespace, pod.Name, target(pod))
}

func placeOf(ds *appsv1.DaemonSet, node string) place {
	return place{ds.UID, ds.Status.ObservedGeneration, node}
}

func (c *Controller) create(ctx context.Context, key runner.Key, s scene, node string) error {
	pod, err := c.client.CoreV1().Pods(s.ds.Namespace).Create(ctx, newPod(s.ds, node, s.hash), metav1.CreateOptions{})
	switch {
	case err == nil:
		c.expecting.pods.Wrote(key, pod.ResourceVersion)
		c.logger.Info("Created pod", "pod", pod.Namespace+"/"+pod.Name, "node", node)
		c.events.Eventf(s.ds, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %v", pod.Name)
		return nil
	case children.NamespaceGone(err):
		return nil
	}
	c.events.Eventf(s.ds, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
	return err
}

func (c *Controller) remove(ctx context.Context, key runner.Key, ds *appsv1.DaemonSet, pod *corev1.Pod) error {
	err := c.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	switch {
	case err == nil:
		c.expecting.pods.Deleted(key, pod.UID)
		c.logger.Info("Deleted pod", "pod", pod.Namespace+"/"+pod.Name)
		c.events.Eventf(ds, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %v", pod.Name)
		return nil
	case apierrors.IsNotFound(err):
		c.expecting.pods.Deleted(key, pod.UID)
		return nil
	}
	c.events.Eventf(ds, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
	return err
}

// writeStatus writes a status that differs.
func (c *Controller) writeStatus(ctx context.Context, key runner.Key, ds *appsv1.DaemonSet, status appsv1.DaemonSetStatus) error {
	if equality.Semantic.DeepEqual(ds.Status, status) {
		return nil
	}
	updated := *ds // the cache's parts are shared, not changed
	updated.Status = status
	answer, err := c.client.AppsV1().DaemonSets(ds.Namespace).UpdateStatus(ctx, &updated, metav1.UpdateOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil // it went meanwhile
	case err != nil:
		return err
	}
	c.expecting.sets.Wrote(key, answer.ResourceVersion)
	return nil
}
