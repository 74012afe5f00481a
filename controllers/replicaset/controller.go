package replicaset

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

// Controller reconciles ReplicaSets.
type Controller struct {
	Source
	client    kubernetes.Interface
	events    record.EventRecorder
	clock     clock.PassiveClock
	logger    *slog.Logger
	sets      cache.Indexer
	pods      cache.Indexer
	expecting *children.Expectations // of pods
	own       *children.Expectations // of ReplicaSets
}

// New connects the controller of ReplicaSets to its informers.
func New(env runner.Env) (runner.Controller, error) {
	return NewOf(env, replicaSets(env))
}

// NewOf does so for any kind that is like a ReplicaSet.
func NewOf(env runner.Env, source Source) (runner.Controller, error) {
	pods := env.Informers.Core().V1().Pods().Informer()
	if err := children.Index(source.Informer, pods); err != nil {
		return runner.Controller{}, err
	}
	c := &Controller{
		Source: source, client: env.Client, events: env.Events(source.Component), clock: env.Clock, logger: env.Logger,
		sets: source.Informer.GetIndexer(), pods: pods.GetIndexer(), expecting: children.NewExpectations(), own: children.NewExpectations(),
	}
	return runner.Controller{
		Name: source.Component, Resource: source.Resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: source.Resource, Informer: source.Informer, Keys: runner.Self},
			{Resource: corev1.Resource("pods"), Informer: pods, Keys: c.ofPod},
			{
				Resource: corev1.Resource("resourcequotas"), Informer: env.Informers.Core().V1().ResourceQuotas().Informer(),
				Keys: c.failingIn, Changed: limitsChanged,
			},
		},
	}, nil
}

// ofPod names a pod's ReplicaSet, or those that would adopt it.
func (c *Controller) ofPod(pod metav1.Object) []runner.Key {
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		if ref.Kind != c.Kind.Kind || ref.APIVersion != c.Kind.GroupVersion().String() {
			return nil
		}
		return []runner.Key{{Namespace: pod.GetNamespace(), Name: ref.Name}}
	}
	return c.keys(pod.GetNamespace(), func(set *appsv1.ReplicaSet) bool {
		selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
		return err == nil && !selector.Empty() && selector.Matches(labels.Set(pod.GetLabels()))
	})
}

// failingIn names the ReplicaSets of a quota's namespace that failed to create pods.
func (c *Controller) failingIn(quota metav1.Object) []runner.Key {
	return c.keys(quota.GetNamespace(), func(set *appsv1.ReplicaSet) bool { return failure(&set.Status) != nil })
}

func limitsChanged(old, cur metav1.Object) bool {
	return !equality.Semantic.DeepEqual(old.(*corev1.ResourceQuota).Status.Hard, cur.(*corev1.ResourceQuota).Status.Hard)
}

func (c *Controller) keys(namespace string, wanted func(*appsv1.ReplicaSet) bool) []runner.Key {
	all, err := c.sets.ByIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		return nil // informers have that index
	}
	var keys []runner.Key
	for _, obj := range all {
		if set := c.View(obj); wanted(set) {
			keys = append(keys, cache.MetaObjectToName(set))
		}
	}
	return keys
}

// Reconcile brings the number of pods of one ReplicaSet to what it wants.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	// Asked before the ReplicaSet is read: the cache goes on meanwhile.
	seen := c.own.Fulfilled(key, c.sets.LastStoreSyncResourceVersion(), nil)
	obj, found, err := c.sets.GetByKey(key.String())
	if err != nil {
		return 0, err
	}
	if !found {
		c.expecting.Forget(key)
		c.own.Forget(key)
		return 0, nil
	}
	set := c.View(obj)
	if !seen {
		runner.Decide(ctx, "wait until the cache shows the status written last")
		return 0, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return 0, fmt.Errorf("selector: %w", err)
	}
	inSync := c.expecting.Fulfilled(key, c.pods.LastStoreSyncResourceVersion(), c.alive(set.UID))
	pods, err := c.claim(ctx, key, children.Owner{Object: set, Kind: c.Kind, Selector: selector})
	if err != nil {
		return 0, err
	}
	var failed error
	switch {
	case !inSync:
		runner.Decide(ctx, "wait until the cache shows what was created and deleted last")
	case set.DeletionTimestamp == nil:
		failed = c.act(ctx, key, set, decide(set, pods.active, func() []*corev1.Pod { return c.related(set) }, c.clock.Now()))
	}
	status := newStatus(set, pods, failed, c.clock.Now())
	if !c.CountsTerminating {
		status.TerminatingReplicas = nil
	}
	if err := c.writeStatus(ctx, key, set, status); err != nil {
		return 0, err
	}
	return nextAvailable(set, pods.active, c.clock.Now()), failed
}

// claimed are the pods of a ReplicaSet that have not finished.
type claimed struct{ active, terminating []*corev1.Pod }

// claim finds a ReplicaSet's pods, after adopting and releasing.
func (c *Controller) claim(ctx context.Context, key runner.Key, owner children.Owner) (claimed, error) {
	claims := children.Sort(owner,
		unfinished(children.Of[*corev1.Pod](c.pods, owner.GetUID())),
		unfinished(children.Orphans[*corev1.Pod](c.pods, owner.GetNamespace())))
	all, err := children.Claimant[*corev1.Pod]{
		Patch: func(ctx context.Context, pod *corev1.Pod, patch []byte) (*corev1.Pod, error) {
			patched, err := c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
			if err == nil {
				c.expecting.Wrote(key, patched.ResourceVersion)
			}
			return patched, err
		},
		Recheck: func(ctx context.Context) (metav1.Object, error) {
			return c.Get(ctx, owner.GetNamespace(), owner.GetName())
		},
	}.Settle(ctx, owner, claims)
	var pods claimed
	for _, pod := range all {
		if pod.DeletionTimestamp == nil {
			pods.active = append(pods.active, pod)
		} else {
			pods.terminating = append(pods.terminating, pod)
		}
	}
	return pods, err
}

func unfinished(pods []*corev1.Pod) []*corev1.Pod {
	kept := pods[:0]
	for _, pod := range pods {
		if !children.Finished(pod) {
			kept = append(kept, pod)
		}
	}
	return kept
}

// alive tells whether a ReplicaSet's pod is in the cache and not on its way out.
// The pods are listed once, and only if that is asked.
func (c *Controller) alive(owner types.UID) func(types.UID) bool {
	var present map[types.UID]bool
	return func(uid types.UID) bool {
		if present == nil {
			present = map[types.UID]bool{}
			for _, pod := range children.Of[*corev1.Pod](c.pods, owner) {
				present[pod.UID] = pod.DeletionTimestamp == nil
			}
		}
		return present[uid]
	}
}

// related are the pods of all ReplicaSets with the same owner: those that
// spread over the nodes together.
func (c *Controller) related(set *appsv1.ReplicaSet) []*corev1.Pod {
	owner := metav1.GetControllerOfNoCopy(set)
	if owner == nil {
		return children.Of[*corev1.Pod](c.pods, set.UID)
	}
	var pods []*corev1.Pod
	for _, sibling := range children.Of[metav1.Object](c.sets, owner.UID) {
		pods = append(pods, children.Of[*corev1.Pod](c.pods, sibling.GetUID())...)
	}
	return pods
}
