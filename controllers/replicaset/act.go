package replicaset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

// act creates or deletes pods as decided.
func (c *Controller) act(ctx context.Context, key runner.Key, set *appsv1.ReplicaSet, d decision) error {
	switch {
	case d.create > 0:
		if going, err := c.going(ctx, set); going || err != nil {
			return err
		}
		runner.Decide(ctx, "want %d, have %d, create %d", d.want, d.have, d.create)
		owner := children.Owner{Object: set, Kind: c.Kind}
		return children.SlowStart(d.create, func(int) error { return c.create(ctx, key, set, owner) })
	case len(d.remove) > 0:
		runner.Decide(ctx, "want %d, have %d, delete %d", d.want, d.have, len(d.remove))
		return children.Parallel(len(d.remove), func(i int) error { return c.remove(ctx, key, set, d.remove[i]) })
	}
	runner.Decide(ctx, "want %d, have %d, nothing to do", d.want, d.have)
	return nil
}

// going asks the API server whether the ReplicaSet is being deleted. Pods and
// ReplicaSets come over watches of their own: when the garbage collector takes
// both, the pods' end may be known here before that of their ReplicaSet, and
// must not be made good.
func (c *Controller) going(ctx context.Context, set *appsv1.ReplicaSet) (bool, error) {
	fresh, err := c.Get(ctx, set.Namespace, set.Name)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return fresh.UID != set.UID || fresh.DeletionTimestamp != nil, nil
}

func (c *Controller) create(ctx context.Context, key runner.Key, set *appsv1.ReplicaSet, owner children.Owner) error {
	pod, err := c.client.CoreV1().Pods(set.Namespace).Create(ctx, children.NewPod(&set.Spec.Template, owner), metav1.CreateOptions{})
	switch {
	case err == nil:
		c.expecting.Wrote(key, pod.ResourceVersion)
		c.logger.Info("Created pod", "pod", pod.Namespace+"/"+pod.Name)
		c.events.Eventf(set, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %v", pod.Name)
		return nil
	case children.NamespaceGone(err):
		return nil
	}
	c.events.Eventf(set, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
	return err
}

func (c *Controller) remove(ctx context.Context, key runner.Key, set *appsv1.ReplicaSet, pod *corev1.Pod) error {
	// The uid spares another pod of that name.
	err := c.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	switch {
	case err == nil:
		c.expecting.Deleted(key, pod.UID)
		c.logger.Info("Deleted pod", "pod", pod.Namespace+"/"+pod.Name)
		c.events.Eventf(set, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %v", pod.Name)
		return nil
	case apierrors.IsNotFound(err):
		c.expecting.Deleted(key, pod.UID)
		return nil
	}
	c.events.Eventf(set, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
	return err
}

// writeStatus writes a status that differs.
func (c *Controller) writeStatus(ctx context.Context, key runner.Key, set *appsv1.ReplicaSet, status appsv1.ReplicaSetStatus) error {
	if sameStatus(&set.Status, &status) {
		return nil
	}
	updated := *set // the cache's parts are shared, not changed
	updated.Status = status
	answer, err := c.UpdateStatus(ctx, &updated)
	switch {
	case apierrors.IsNotFound(err):
		return nil // it went meanwhile
	case err != nil:
		return err
	}
	c.own.Wrote(key, answer.ResourceVersion)
	return nil
}
