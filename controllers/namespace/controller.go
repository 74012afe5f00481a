package namespace

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/runner"
)

// Controller reconciles Namespaces that are being deleted.
type Controller struct {
	client     kubernetes.Interface
	metadata   metadata.Interface
	clock      clock.PassiveClock
	namespaces corelisters.NamespaceLister
	pods       cache.Indexer
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	namespaces := env.Informers.Core().V1().Namespaces()
	pods := env.Informers.Core().V1().Pods().Informer()
	c := &Controller{
		client: env.Client, metadata: env.Metadata, clock: env.Clock,
		namespaces: namespaces.Lister(), pods: pods.GetIndexer(),
	}
	resource := corev1.Resource("namespaces")
	return runner.Controller{
		Name: "namespace-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: namespaces.Informer(), Keys: runner.Self},
			{
				Resource: corev1.Resource("pods"), Informer: pods, Keys: c.ofLastPod,
				Changed: func(metav1.Object, metav1.Object) bool { return false },
			},
		},
	}, nil
}

// ofLastPod wakes a terminating namespace when its last pod has gone. Without
// that, the next look would come after half of the longest grace period.
func (c *Controller) ofLastPod(pod metav1.Object) []runner.Key {
	namespace, err := c.namespaces.Get(pod.GetNamespace())
	if err != nil || namespace.DeletionTimestamp == nil {
		return nil
	}
	if left, err := c.pods.IndexKeys(cache.NamespaceIndex, pod.GetNamespace()); err != nil || len(left) > 0 {
		return nil
	}
	return []runner.Key{{Name: pod.GetNamespace()}}
}

// Reconcile takes the deletion of one namespace as far as it goes now.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	if cached, err := c.namespaces.Get(key.Name); err != nil || cached.DeletionTimestamp == nil {
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return 0, err
	}
	// The live object decides: a deletion can't be taken back.
	namespace, err := c.client.CoreV1().Namespaces().Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if namespace.DeletionTimestamp == nil || !holds(namespace) {
		return 0, nil
	}
	result, err := c.empty(ctx, namespace)
	if reportErr := c.report(ctx, namespace, result.conditions); err == nil {
		err = reportErr
	}
	if err != nil {
		return 0, err
	}
	if result.wait > 0 {
		runner.Decide(ctx, "wait for what remains")
		// Half of the estimate, for much of it has often passed already.
		return result.wait/2 + time.Second, nil
	}
	runner.Decide(ctx, "finalize")
	return 0, c.finalize(ctx, namespace)
}

// holds tells whether the namespace still waits for this controller.
func holds(namespace *corev1.Namespace) bool {
	return slices.Contains(namespace.Spec.Finalizers, corev1.FinalizerKubernetes)
}

func (c *Controller) finalize(ctx context.Context, namespace *corev1.Namespace) error {
	live, err := c.client.CoreV1().Namespaces().Get(ctx, namespace.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && live.UID != namespace.UID {
		return nil
	}
	if err != nil {
		return err
	}
	live.Spec.Finalizers = slices.DeleteFunc(live.Spec.Finalizers, func(finalizer corev1.FinalizerName) bool {
		return finalizer == corev1.FinalizerKubernetes
	})
	_, err = c.client.CoreV1().Namespaces().Finalize(ctx, live, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// report writes the phase and conditions if they differ.
func (c *Controller) report(ctx context.Context, namespace *corev1.Namespace, conditions []corev1.NamespaceCondition) error {
	changed := setConditions(&namespace.Status, conditions, metav1.NewTime(c.clock.Now()))
	if namespace.Status.Phase != corev1.NamespaceTerminating {
		namespace.Status.Phase, changed = corev1.NamespaceTerminating, true
	}
	if !changed {
		return nil
	}
	_, err := c.client.CoreV1().Namespaces().UpdateStatus(ctx, namespace, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
