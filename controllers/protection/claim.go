package protection

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/controllers/volume"
)

const claimFinalizer = "kubernetes.io/pvc-protection"

// Claims protects PersistentVolumeClaims, and tells in a condition since when
// no pod uses them.
type Claims struct {
	client kubernetes.Interface
	clock  clock.PassiveClock
	claims corelisters.PersistentVolumeClaimLister
	pods   cache.Indexer
}

// NewClaims connects the controller to its informers.
func NewClaims(env runner.Env) (runner.Controller, error) {
	claims, pods := env.Informers.Core().V1().PersistentVolumeClaims(), env.Informers.Core().V1().Pods().Informer()
	if err := volume.IndexPods(pods); err != nil {
		return runner.Controller{}, err
	}
	c := &Claims{client: env.Client, clock: env.Clock, claims: claims.Lister(), pods: pods.GetIndexer()}
	resource := corev1.Resource("persistentvolumeclaims")
	return runner.Controller{
		Name: "pvc-protection-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: claims.Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("pods"), Informer: pods, Keys: volume.ClaimsOf, Changed: usesOtherwise},
		},
	}, nil
}

// usesOtherwise tells whether an update of a pod may change who uses its claims.
func usesOtherwise(old, cur metav1.Object) bool {
	before, after := old.(*corev1.Pod), cur.(*corev1.Pod)
	return before.UID != after.UID || before.Spec.NodeName != after.Spec.NodeName ||
		before.Status.Phase != after.Status.Phase || shutDown(before) != shutDown(after)
}

// Reconcile looks after the finalizer and the condition of one claim.
func (c *Claims) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	claim, err := c.claims.PersistentVolumeClaims(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	finalizers, changed, err := wanted(claim, claimFinalizer, func() (bool, error) { return c.inUse(ctx, claim) })
	if err != nil {
		return 0, err
	}
	if changed {
		runner.Decide(ctx, "finalizers become %v", finalizers)
		claim = claim.DeepCopy()
		claim.Finalizers = finalizers
		_, err := c.client.CoreV1().PersistentVolumeClaims(key.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
		return 0, gone(err)
	}
	return 0, gone(c.reportUse(ctx, claim))
}

// inUse asks the cache, and when that knows of no user, the API server.
func (c *Claims) inUse(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bool, error) {
	for _, pod := range volume.PodsOf(c.pods, claim) {
		if holds(pod, claim) {
			return true, nil
		}
	}
	live, err := c.client.CoreV1().Pods(claim.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	for i := range live.Items {
		if holds(&live.Items[i], claim) {
			return true, nil
		}
	}
	return false, nil
}

// holds reports whether a pod keeps its claim from being deleted. One without
// a node does not: no kubelet starts it with a claim that is on its way out.
// The claim of an ephemeral volume goes when its pod is shut down, since the
// pod itself may wait for that.
func holds(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	if pod.Spec.NodeName == "" || !volume.Uses(pod, claim) {
		return false
	}
	return !shutDown(pod) || !metav1.IsControlledBy(claim, pod)
}

func shutDown(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && ptr.Deref(pod.DeletionGracePeriodSeconds, 1) == 0
}

// reportUse keeps the condition Unused of a bound claim.
func (c *Claims) reportUse(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.Status.Phase != corev1.ClaimBound || claim.DeletionTimestamp != nil {
		return nil
	}
	used := false
	for _, pod := range volume.PodsOf(c.pods, claim) {
		used = used || !children.Finished(pod)
	}
	condition := unused(used, metav1.NewTime(c.clock.Now()))
	status := claim.Status.DeepCopy()
	for i := range status.Conditions {
		if old := &status.Conditions[i]; old.Type == condition.Type {
			if old.Status == condition.Status {
				return nil
			}
			*old = condition
			return c.writeStatus(ctx, claim, status)
		}
	}
	status.Conditions = append(status.Conditions, condition)
	return c.writeStatus(ctx, claim, status)
}

func unused(used bool, now metav1.Time) corev1.PersistentVolumeClaimCondition {
	condition := corev1.PersistentVolumeClaimCondition{
		Type: "Unused", Status: corev1.ConditionTrue, LastTransitionTime: now,
		Reason: "NoPodsUsingPVC", Message: "No pods are currently referencing this PVC",
	}
	if used {
		condition.Status, condition.Reason, condition.Message = corev1.ConditionFalse, "PodUsingPVC", "A pod is currently referencing this PVC"
	}
	return condition
}

func (c *Claims) writeStatus(ctx context.Context, claim *corev1.PersistentVolumeClaim, status *corev1.PersistentVolumeClaimStatus) error {
	claim = claim.DeepCopy()
	claim.Status = *status
	_, err := c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	return err
}

// gone is nil when the object vanished meanwhile.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
