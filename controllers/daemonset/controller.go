package daemonset

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/history"
	"github.com/kubesim/kubesim/controllers/runner"
)

const component = "daemonset-controller"

// Controller reconciles DaemonSets.
type Controller struct {
	client kubernetes.Interface
	events record.EventRecorder
	clock  clock.PassiveClock
	logger *slog.Logger
	lister appslisters.DaemonSetLister
	nodes  corelisters.NodeLister
	cache  struct{ sets, pods cache.Indexer }
	// What the caches must show before the next step.
	expecting struct{ sets, pods *children.Expectations }
	history   *history.Keeper
	backoff   backoff
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	sets := env.Informers.Apps().V1().DaemonSets()
	revisions := env.Informers.Apps().V1().ControllerRevisions().Informer()
	pods := env.Informers.Core().V1().Pods().Informer()
	nodes := env.Informers.Core().V1().Nodes()
	if err := children.Index(pods, revisions); err != nil {
		return runner.Controller{}, err
	}
	c := &Controller{
		client: env.Client, events: env.Events(component), clock: env.Clock, logger: env.Logger,
		lister: sets.Lister(), nodes: nodes.Lister(), history: history.NewKeeper(env.Client, revisions),
		backoff: backoff{places: map[place]delay{}},
	}
	c.cache.sets, c.cache.pods = sets.Informer().GetIndexer(), pods.GetIndexer()
	c.expecting.sets, c.expecting.pods = children.NewExpectations(), children.NewExpectations()
	resource := appsv1.Resource("daemonsets")
	return runner.Controller{
		Name: component, Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: sets.Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("pods"), Informer: pods, Keys: c.ofChild},
			{Resource: corev1.Resource("nodes"), Informer: nodes.Informer(), Keys: c.ofNode, Changed: nodeChanged},
			{Resource: appsv1.Resource("controllerrevisions"), Informer: revisions, Keys: c.ofChild},
		},
	}, nil
}

// ofChild names the DaemonSet of a pod or revision, or those that would adopt it.
func (c *Controller) ofChild(child metav1.Object) []runner.Key {
	if ref := metav1.GetControllerOfNoCopy(child); ref != nil {
		if ref.Kind != kind.Kind || ref.APIVersion != kind.GroupVersion().String() {
			return nil
		}
		return []runner.Key{{Namespace: child.GetNamespace(), Name: ref.Name}}
	}
	return c.keys(child.GetNamespace(), func(ds *appsv1.DaemonSet) bool {
		selector, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
		return err == nil && !selector.Empty() && selector.Matches(labels.Set(child.GetLabels()))
	})
}

// ofNode names the DaemonSets that have a pod too few or too many on a node.
func (c *Controller) ofNode(obj metav1.Object) []runner.Key {
	node := obj.(*corev1.Node)
	return c.keys(metav1.NamespaceAll, func(ds *appsv1.DaemonSet) bool {
		v := judge(ds, node)
		if c.hasPod(ds, node.Name) {
			return !v.stay
		}
		return v.run
	})
}

func (c *Controller) hasPod(ds *appsv1.DaemonSet, node string) bool {
	for _, pod := range children.Of[*corev1.Pod](c.cache.pods, ds.UID) {
		if target(pod) == node {
			return true
		}
	}
	return false
}

func nodeChanged(old, cur metav1.Object) bool {
	before, after := old.(*corev1.Node), cur.(*corev1.Node)
	return !equality.Semantic.DeepEqual(before.Labels, after.Labels) || !equality.Semantic.DeepEqual(before.Spec, after.Spec)
}

func (c *Controller) keys(namespace string, wanted func(*appsv1.DaemonSet) bool) []runner.Key {
	all, err := c.lister.DaemonSets(namespace).List(labels.Everything())
	if err != nil {
		return nil // a lister's never fails
	}
	var keys []runner.Key
	for _, ds := range all {
		if wanted(ds) {
			keys = append(keys, cache.MetaObjectToName(ds))
		}
	}
	return keys
}

// Reconcile takes the next step of one DaemonSet.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	ds, err := c.lister.DaemonSets(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.expecting.sets.Forget(key)
		c.expecting.pods.Forget(key)
		c.history.Forget(key)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !c.settled(key, ds.UID) {
		runner.Decide(ctx, "wait until the cache shows what was written last")
		return 0, nil
	}
	// Again, now that the cache is known to show all that was written.
	if ds, err = c.lister.DaemonSets(key.Namespace).Get(key.Name); err != nil {
		return 0, err
	}
	selector, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
	if err != nil {
		return 0, fmt.Errorf("selector: %w", err)
	}
	switch {
	case selector.Empty():
		c.events.Event(ds, corev1.EventTypeWarning, "SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")
		return 0, nil
	case ds.DeletionTimestamp != nil:
		return 0, nil
	}
	owner := children.Owner{Object: ds, Kind: kind, Selector: selector}
	revisions, err := c.history.Claim(ctx, key, owner, c.recheck(ds))
	if err != nil {
		return 0, err
	}
	hash, err := c.currentHash(ctx, key, ds, revisions)
	switch {
	case children.NamespaceGone(err):
		return 0, nil
	case err != nil, hash == "":
		return 0, err
	}
	s, err := c.look(ctx, key, owner, ds, hash)
	if err != nil {
		return 0, err
	}
	return c.step(ctx, key, s, revisions)
}

// step acts, cleans up and reports.
func (c *Controller) step(ctx context.Context, key runner.Key, s scene, revisions []*appsv1.ControllerRevision) (time.Duration, error) {
	p := decide(s)
	failed := c.act(ctx, key, s, p)
	if failed == nil {
		failed = c.history.Truncate(ctx, expendable(s, revisions))
	}
	if err := c.writeStatus(ctx, key, s.ds, newStatus(s)); err != nil {
		return 0, err
	}
	again := nextAvailable(s)
	if p.again > 0 && (again == 0 || p.again < again) {
		again = p.again
	}
	return again, failed
}

func (c *Controller) settled(key runner.Key, uid types.UID) bool {
	alive := func(pod types.UID) bool {
		for _, p := range children.Of[*corev1.Pod](c.cache.pods, uid) {
			if p.UID == pod {
				return p.DeletionTimestamp == nil
			}
		}
		return false
	}
	return c.expecting.sets.Fulfilled(key, c.cache.sets.LastStoreSyncResourceVersion(), nil) &&
		c.expecting.pods.Fulfilled(key, c.cache.pods.LastStoreSyncResourceVersion(), alive) &&
		c.history.Settled(key)
}

func (c *Controller) recheck(ds *appsv1.DaemonSet) func(context.Context) (metav1.Object, error) {
	return func(ctx context.Context) (metav1.Object, error) {
		return c.client.AppsV1().DaemonSets(ds.Namespace).Get(ctx, ds.Name, metav1.GetOptions{})
	}
}

// look gathers nodes and pods, after adopting and releasing.
func (c *Controller) look(ctx context.Context, key runner.Key, owner children.Owner, ds *appsv1.DaemonSet, hash string) (scene, error) {
	claims := children.Sort(owner,
		children.Of[*corev1.Pod](c.cache.pods, ds.UID),
		children.Orphans[*corev1.Pod](c.cache.pods, ds.Namespace))
	pods, err := children.Claimant[*corev1.Pod]{
		Patch: func(ctx context.Context, pod *corev1.Pod, patch []byte) (*corev1.Pod, error) {
			patched, err := c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
			if err == nil {
				c.expecting.pods.Wrote(key, patched.ResourceVersion)
			}
			return patched, err
		},
		Recheck: c.recheck(ds),
	}.Settle(ctx, owner, claims)
	if err != nil {
		return scene{}, err
	}
	nodes, err := c.nodes.List(labels.Everything())
	if err != nil {
		return scene{}, err
	}
	s := newScene(ds, hash, nodes, pods, c.clock.Now())
	s.held = func(node string) time.Duration { return c.backoff.left(placeOf(ds, node), s.now) }
	return s, nil
}
