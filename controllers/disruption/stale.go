package disruption

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/eviction"
	"github.com/kubesim/kubesim/controllers/runner"
)

// staleTimeout is how long a pod may be the target of a disruption that does not come.
const staleTimeout = 2 * time.Minute

// StaleController reconciles Pods that somebody meant to delete.
type StaleController struct {
	client kubernetes.Interface
	clock  clock.PassiveClock
	pods   corelisters.PodLister
}

// NewStale connects the controller to its informers.
func NewStale(env runner.Env) (runner.Controller, error) {
	pods := env.Informers.Core().V1().Pods()
	c := &StaleController{client: env.Client, clock: env.Clock, pods: pods.Lister()}
	resource := corev1.Resource("pods")
	return runner.Controller{
		Name: "stale-pod-disruption-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{{Resource: resource, Informer: pods.Informer(), Keys: ofTarget}},
	}, nil
}

func ofTarget(obj metav1.Object) []runner.Key {
	if target(obj.(*corev1.Pod)) == nil {
		return nil
	}
	return runner.Self(obj)
}

// target is the condition of a pod that is about to be disrupted. One that the
// kubelet set may take any time.
func target(pod *corev1.Pod) *corev1.PodCondition {
	if pod.DeletionTimestamp != nil || children.Finished(pod) {
		return nil
	}
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue && condition.Reason != corev1.PodReasonTerminationByKubelet {
			return condition
		}
	}
	return nil
}

// Reconcile takes back one pod's condition when its time is over.
func (c *StaleController) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	pod, err := c.pods.Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	condition := target(pod)
	if condition == nil {
		return 0, nil
	}
	now := c.clock.Now()
	if left := condition.LastTransitionTime.Add(staleTimeout).Sub(now); left > 0 {
		return left, nil
	}
	runner.Decide(ctx, "the disruption did not come")
	return 0, eviction.Tell(ctx, c.client, pod, "", corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse, ObservedGeneration: pod.Generation, LastTransitionTime: metav1.NewTime(now).Rfc3339Copy(),
	})
}
