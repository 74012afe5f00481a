package statefulset

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
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
	"github.com/kubesim/kubesim/controllers/history"
	"github.com/kubesim/kubesim/controllers/runner"
)

const component = "statefulset-controller"

// Controller reconciles StatefulSets.
type Controller struct {
	client kubernetes.Interface
	events record.EventRecorder
	clock  clock.PassiveClock
	logger *slog.Logger
	lister appslisters.StatefulSetLister
	cache  struct{ sets, pods, claims cache.Indexer }
	// What the caches must show before the next step.
	expecting struct{ sets, pods, claims *children.Expectations }
	history   *history.Keeper
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	sets := env.Informers.Apps().V1().StatefulSets()
	revisions := env.Informers.Apps().V1().ControllerRevisions().Informer()
	pods := env.Informers.Core().V1().Pods().Informer()
	claims := env.Informers.Core().V1().PersistentVolumeClaims().Informer()
	if err := children.Index(pods, revisions); err != nil {
		return runner.Controller{}, err
	}
	c := &Controller{
		client: env.Client, events: env.Events(component), clock: env.Clock, logger: env.Logger, lister: sets.Lister(),
		history: history.NewKeeper(env.Client, revisions),
	}
	c.cache.sets, c.cache.pods, c.cache.claims = sets.Informer().GetIndexer(), pods.GetIndexer(), claims.GetIndexer()
	c.expecting.sets, c.expecting.pods, c.expecting.claims = children.NewExpectations(), children.NewExpectations(), children.NewExpectations()
	resource := appsv1.Resource("statefulsets")
	return runner.Controller{
		Name: component, Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: sets.Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("pods"), Informer: pods, Keys: c.ofChild},
			{Resource: corev1.Resource("persistentvolumeclaims"), Informer: claims, Keys: c.ofClaim},
			{Resource: appsv1.Resource("controllerrevisions"), Informer: revisions, Keys: c.ofChild},
		},
	}, nil
}

// ofChild names the StatefulSet of a pod or revision, or those that would adopt it.
func (c *Controller) ofChild(child metav1.Object) []runner.Key {
	if ref := metav1.GetControllerOfNoCopy(child); ref != nil {
		if ref.Kind != kind.Kind || ref.APIVersion != kind.GroupVersion().String() {
			return nil
		}
		return []runner.Key{{Namespace: child.GetNamespace(), Name: ref.Name}}
	}
	return c.keys(child.GetNamespace(), func(set *appsv1.StatefulSet) bool {
		selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
		return err == nil && !selector.Empty() && selector.Matches(labels.Set(child.GetLabels()))
	})
}

// ofClaim names the StatefulSets that could have given a claim its name.
func (c *Controller) ofClaim(claim metav1.Object) []runner.Key {
	return c.keys(claim.GetNamespace(), func(set *appsv1.StatefulSet) bool {
		for _, template := range set.Spec.VolumeClaimTemplates {
			if strings.HasPrefix(claim.GetName(), template.Name+"-"+set.Name+"-") {
				return true
			}
		}
		return false
	})
}

func (c *Controller) keys(namespace string, wanted func(*appsv1.StatefulSet) bool) []runner.Key {
	all, err := c.lister.StatefulSets(namespace).List(labels.Everything())
	if err != nil {
		return nil // a lister's never fails
	}
	var keys []runner.Key
	for _, set := range all {
		if wanted(set) {
			keys = append(keys, cache.MetaObjectToName(set))
		}
	}
	return keys
}

// Reconcile takes the next step of one StatefulSet.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	set, err := c.lister.StatefulSets(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.forget(key)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !c.settled(key, set.UID) {
		runner.Decide(ctx, "wait until the cache shows what was written last")
		return 0, nil
	}
	// Again, now that the cache is known to show all that was written.
	if set, err = c.lister.StatefulSets(key.Namespace).Get(key.Name); err != nil {
		return 0, err
	}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return 0, fmt.Errorf("selector: %w", err)
	}
	owner := children.Owner{Object: set, Kind: kind, Selector: selector}
	revisions, err := c.history.Claim(ctx, key, owner, c.recheck(set))
	if err != nil {
		return 0, err
	}
	pods, err := c.claimPods(ctx, key, set, owner)
	if err != nil {
		return 0, err
	}
	s := scene{set: set, pods: pods, claim: c.claimByName(set.Namespace), now: c.clock.Now()}
	collisions, err := c.findRevisions(ctx, key, &s, revisions)
	if children.NamespaceGone(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	p := decide(s)
	failed := c.act(ctx, key, s, p)
	if failed != nil {
		p.replaced = 0
	}
	if err := c.writeStatus(ctx, key, set, newStatus(s, collisions, p.replaced)); err != nil {
		return 0, err
	}
	if failed != nil {
		return 0, failed
	}
	return nextAvailable(s), c.history.Truncate(ctx, history.Expendable(revisions, set.Spec.RevisionHistoryLimit, s.lives))
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
		c.expecting.claims.Fulfilled(key, c.cache.claims.LastStoreSyncResourceVersion(), nil) &&
		c.history.Settled(key)
}

func (c *Controller) forget(key runner.Key) {
	c.expecting.sets.Forget(key)
	c.expecting.pods.Forget(key)
	c.expecting.claims.Forget(key)
	c.history.Forget(key)
}

func (c *Controller) recheck(set *appsv1.StatefulSet) func(context.Context) (metav1.Object, error) {
	return func(ctx context.Context) (metav1.Object, error) {
		return c.client.AppsV1().StatefulSets(set.Namespace).Get(ctx, set.Name, metav1.GetOptions{})
	}
}

// claimPods finds a set's pods, after adopting and releasing. Only pods with a
// name that the set gives are its own.
func (c *Controller) claimPods(ctx context.Context, key runner.Key, set *appsv1.StatefulSet, owner children.Owner) ([]*corev1.Pod, error) {
	claims := children.Sort(owner,
		members(set, children.Of[*corev1.Pod](c.cache.pods, set.UID)),
		members(set, children.Orphans[*corev1.Pod](c.cache.pods, set.Namespace)))
	return children.Claimant[*corev1.Pod]{
		Patch: func(ctx context.Context, pod *corev1.Pod, patch []byte) (*corev1.Pod, error) {
			patched, err := c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
			if err == nil {
				c.expecting.pods.Wrote(key, patched.ResourceVersion)
			}
			return patched, err
		},
		Recheck: c.recheck(set),
	}.Settle(ctx, owner, claims)
}

func members(set *appsv1.StatefulSet, pods []*corev1.Pod) []*corev1.Pod {
	kept := pods[:0]
	for _, pod := range pods {
		if isMember(set, pod) {
			kept = append(kept, pod)
		}
	}
	return kept
}

func (c *Controller) claimByName(namespace string) func(string) *corev1.PersistentVolumeClaim {
	return func(name string) *corev1.PersistentVolumeClaim {
		obj, found, err := c.cache.claims.GetByKey(namespace + "/" + name)
		if err != nil || !found {
			return nil
		}
		return obj.(*corev1.PersistentVolumeClaim)
	}
}
