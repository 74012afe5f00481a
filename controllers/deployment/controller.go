package deployment

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

const component = "deployment-controller"

// Controller reconciles Deployments.
type Controller struct {
	client      kubernetes.Interface
	events      record.EventRecorder
	clock       clock.PassiveClock
	logger      *slog.Logger
	deployments appslisters.DeploymentLister
	cache       struct{ deployments, sets, pods cache.Indexer }
	// What the caches must show before the next step: a step on stale sums
	// would be one too many, or a conflict.
	own, owned *children.Expectations
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	deployments := env.Informers.Apps().V1().Deployments()
	sets := env.Informers.Apps().V1().ReplicaSets().Informer()
	pods := env.Informers.Core().V1().Pods().Informer()
	if err := children.Index(sets, pods); err != nil {
		return runner.Controller{}, err
	}
	c := &Controller{
		client: env.Client, events: env.Events(component), clock: env.Clock, logger: env.Logger,
		deployments: deployments.Lister(), own: children.NewExpectations(), owned: children.NewExpectations(),
	}
	c.cache.deployments, c.cache.sets, c.cache.pods = deployments.Informer().GetIndexer(), sets.GetIndexer(), pods.GetIndexer()
	resource := appsv1.Resource("deployments")
	return runner.Controller{
		Name: component, Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: deployments.Informer(), Keys: runner.Self},
			{Resource: appsv1.Resource("replicasets"), Informer: sets, Keys: c.ofReplicaSet},
		},
	}, nil
}

// ofReplicaSet names a ReplicaSet's Deployment, or those that would adopt it.
// Pods need no watch: a ReplicaSet's status changes with each of them.
func (c *Controller) ofReplicaSet(set metav1.Object) []runner.Key {
	if ref := metav1.GetControllerOfNoCopy(set); ref != nil {
		if ref.Kind != kind.Kind {
			return nil
		}
		return []runner.Key{{Namespace: set.GetNamespace(), Name: ref.Name}}
	}
	all, err := c.deployments.Deployments(set.GetNamespace()).List(labels.Everything())
	if err != nil {
		return nil // a lister's never fails
	}
	var keys []runner.Key
	for _, d := range all {
		if selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector); err == nil && !selector.Empty() && selector.Matches(labels.Set(set.GetLabels())) {
			keys = append(keys, cache.MetaObjectToName(d))
		}
	}
	return keys
}

// Reconcile takes the next step of one Deployment.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	// Asked before the Deployment is read: the caches go on meanwhile.
	seen := c.own.Fulfilled(key, c.cache.deployments.LastStoreSyncResourceVersion(), nil) &&
		c.owned.Fulfilled(key, c.cache.sets.LastStoreSyncResourceVersion(), nil)
	cached, err := c.deployments.Deployments(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.own.Forget(key)
		c.owned.Forget(key)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !seen {
		runner.Decide(ctx, "wait until the cache shows what was written last")
		return 0, nil
	}
	d := cached.DeepCopy()
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return 0, fmt.Errorf("selector: %w", err)
	}
	r := &rollout{Controller: c, key: key, now: c.clock.Now()}
	if selector.Empty() {
		c.events.Event(d, corev1.EventTypeWarning, "SelectingAll", "This deployment is selecting all pods. A non-empty selector is required.")
		return 0, r.observeOnly(ctx, d)
	}
	sets, err := c.claim(ctx, key, children.Owner{Object: d, Kind: kind, Selector: selector})
	if err != nil {
		return 0, err
	}
	r.family = newFamily(d, sets)
	err = r.step(ctx)
	if apierrors.IsNotFound(err) {
		return 0, nil // the Deployment or a ReplicaSet went meanwhile, which wakes it or ends it
	}
	return r.checkAfter, err
}

// claim returns the ReplicaSets of a Deployment, after adopting and releasing.
func (c *Controller) claim(ctx context.Context, key runner.Key, owner children.Owner) ([]*appsv1.ReplicaSet, error) {
	claims := children.Sort(owner,
		children.Of[*appsv1.ReplicaSet](c.cache.sets, owner.GetUID()),
		children.Orphans[*appsv1.ReplicaSet](c.cache.sets, owner.GetNamespace()))
	return children.Claimant[*appsv1.ReplicaSet]{
		Patch: func(ctx context.Context, set *appsv1.ReplicaSet, patch []byte) (*appsv1.ReplicaSet, error) {
			patched, err := c.client.AppsV1().ReplicaSets(set.Namespace).Patch(ctx, set.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
			if err == nil {
				c.owned.Wrote(key, patched.ResourceVersion)
			}
			return patched, err
		},
		Recheck: func(ctx context.Context) (metav1.Object, error) {
			return c.client.AppsV1().Deployments(owner.GetNamespace()).Get(ctx, owner.GetName(), metav1.GetOptions{})
		},
	}.Settle(ctx, owner, claims)
}
