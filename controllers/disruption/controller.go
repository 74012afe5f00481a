package disruption

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

// component is the source of the events, by the name that Kubernetes has for it.
const component = "controllermanager"

// Controller reconciles PodDisruptionBudgets.
type Controller struct {
	client  kubernetes.Interface
	events  record.EventRecorder
	clock   clock.PassiveClock
	budgets policylisters.PodDisruptionBudgetLister
	pods    corelisters.PodLister
	owners  owners
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	apps, core := env.Informers.Apps().V1(), env.Informers.Core().V1()
	budgets, pods := env.Informers.Policy().V1().PodDisruptionBudgets(), core.Pods()
	c := &Controller{
		client: env.Client, events: env.Events(component), clock: env.Clock, budgets: budgets.Lister(), pods: pods.Lister(),
		owners: owners{
			replicaSets: apps.ReplicaSets().Lister(), deployments: apps.Deployments().Lister(), statefulSets: apps.StatefulSets().Lister(),
			controllers: core.ReplicationControllers().Lister(), scales: env.Scales, mapper: env.Mapper,
		},
	}
	resource := policyv1.Resource("poddisruptionbudgets")
	return runner.Controller{
		Name: "disruption-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: budgets.Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("pods"), Informer: pods.Informer(), Keys: c.ofPod, Changed: podChanged},
		},
	}, nil
}

// ofPod names the budgets that select a pod.
func (c *Controller) ofPod(pod metav1.Object) []runner.Key {
	budgets, err := c.budgets.PodDisruptionBudgets(pod.GetNamespace()).List(labels.Everything())
	if err != nil {
		return nil // a lister's never fails
	}
	var keys []runner.Key
	for _, budget := range budgets {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.GetLabels())) {
			keys = append(keys, cache.MetaObjectToName(budget))
		}
	}
	return keys
}

func podChanged(old, cur metav1.Object) bool {
	before, after := old.(*corev1.Pod), cur.(*corev1.Pod)
	return children.Ready(before) != children.Ready(after) || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		!equality.Semantic.DeepEqual(before.Labels, after.Labels) || !equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences)
}

// Reconcile works out what one budget allows.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	budget, err := c.budgets.PodDisruptionBudgets(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	status, wait, err := c.observe(ctx, budget)
	if err != nil {
		runner.Decide(ctx, "allow nothing: %v", err)
		if writeErr := c.write(ctx, budget, failed(budget, err, c.clock.Now())); writeErr != nil {
			return 0, writeErr
		}
		return 0, err
	}
	runner.Decide(ctx, "%d of %d healthy, want %d: allow %d", status.CurrentHealthy, status.ExpectedPods, status.DesiredHealthy, status.DisruptionsAllowed)
	return wait, c.write(ctx, budget, status)
}

// observe is a budget's status as of now, and how long it holds if nothing
// happens; 0 is for ever.
func (c *Controller) observe(ctx context.Context, budget *policyv1.PodDisruptionBudget) (policyv1.PodDisruptionBudgetStatus, time.Duration, error) {
	now := c.clock.Now()
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	if err != nil {
		return policyv1.PodDisruptionBudgetStatus{}, 0, fmt.Errorf("selector: %w", err)
	}
	pods, err := c.pods.Pods(budget.Namespace).List(selector)
	if err != nil {
		return policyv1.PodDisruptionBudgetStatus{}, 0, err
	}
	if len(pods) == 0 {
		c.events.Event(budget, corev1.EventTypeNormal, "NoPods", "No matching pods found")
	}
	limits, err := want(budget, len(pods), func() (int32, error) { return c.expected(ctx, budget, pods) })
	if err != nil {
		c.events.Eventf(budget, corev1.EventTypeWarning, "CalculateExpectedPodCountFailed", "Failed to calculate the number of expected pods: %v", err)
		return policyv1.PodDisruptionBudgetStatus{}, 0, err
	}
	pending, late, wait := granted(budget, pods, now)
	for _, pod := range late {
		c.events.Eventf(pod, corev1.EventTypeWarning, "NotDeleted", "Pod was expected by PDB %s/%s to be deleted but it wasn't", budget.Namespace, budget.Name)
	}
	return newStatus(budget, limits, healthy(pods, pending), pending, now), wait, nil
}

// expected is how many pods their controllers want.
func (c *Controller) expected(ctx context.Context, budget *policyv1.PodDisruptionBudget, pods []*corev1.Pod) (int32, error) {
	sum, unmanaged, err := total(pods, func(owner metav1.OwnerReference) (*scaled, error) {
		return c.owners.find(ctx, budget.Namespace, owner)
	})
	if err == nil && len(unmanaged) > 0 {
		c.events.Eventf(budget, corev1.EventTypeWarning, "UnmanagedPods", "Pods selected by this PodDisruptionBudget (selector: %v) were found to be unmanaged. "+
			"As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. "+
			"To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value.", budget.Spec.Selector)
	}
	return sum, err
}

// write writes a status that differs. The revision is that of what was read: an
// eviction that was granted meanwhile must not be forgotten.
func (c *Controller) write(ctx context.Context, budget *policyv1.PodDisruptionBudget, status policyv1.PodDisruptionBudgetStatus) error {
	if equality.Semantic.DeepEqual(budget.Status, status) {
		return nil
	}
	changed := *budget
	changed.Status = status
	_, err := c.client.PolicyV1().PodDisruptionBudgets(budget.Namespace).UpdateStatus(ctx, &changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
