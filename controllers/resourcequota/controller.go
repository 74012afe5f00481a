package resourcequota

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/quota"
)

const (
	// settleTime is how long a quota must be left alone before its usage falls.
	settleTime = 250 * time.Millisecond
	// resyncPeriod is how often everything is counted again.
	resyncPeriod = 5 * time.Minute
)

// Controller reconciles ResourceQuotas.
type Controller struct {
	client   kubernetes.Interface
	clock    clock.PassiveClock
	quotas   corelisters.ResourceQuotaLister
	pods     corelisters.PodLister
	services corelisters.ServiceLister
	claims   corelisters.PersistentVolumeClaimLister
	counters *counters

	mu   sync.Mutex
	seen map[runner.Key]sighting
}

// sighting is when a quota was first seen at a revision.
type sighting struct {
	revision string
	at       time.Time
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	core := env.Informers.Core().V1()
	c := &Controller{
		client: env.Client, clock: env.Clock,
		quotas: core.ResourceQuotas().Lister(), pods: core.Pods().Lister(), services: core.Services().Lister(), claims: core.PersistentVolumeClaims().Lister(),
		counters: newCounters(env), seen: map[runner.Key]sighting{},
	}
	resource := corev1.Resource("resourcequotas")
	return runner.Controller{
		Name: "resourcequota-controller", Resource: resource, Reconcile: c.Reconcile,
		Source: func(ctx context.Context, enqueue func(runner.Key)) {
			c.counters.run(ctx, func(namespace string) {
				for _, key := range c.in(namespace) {
					enqueue(key)
				}
			})
		},
		Watches: []runner.Watch{
			{Resource: resource, Informer: core.ResourceQuotas().Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("pods"), Informer: core.Pods().Informer(), Keys: c.ofObject, Changed: podChanged},
			{Resource: corev1.Resource("services"), Informer: core.Services().Informer(), Keys: c.ofObject, Changed: specChanged},
			{Resource: corev1.Resource("persistentvolumeclaims"), Informer: core.PersistentVolumeClaims().Informer(), Keys: c.ofObject, Changed: specChanged},
		},
	}, nil
}

func (c *Controller) ofObject(obj metav1.Object) []runner.Key { return c.in(obj.GetNamespace()) }

// in names the quotas of a namespace.
func (c *Controller) in(namespace string) []runner.Key {
	quotas, err := c.quotas.ResourceQuotas(namespace).List(labels.Everything())
	if err != nil {
		return nil // a lister's never fails
	}
	var keys []runner.Key
	for _, q := range quotas {
		keys = append(keys, cache.MetaObjectToName(q))
	}
	return keys
}

func podChanged(old, cur metav1.Object) bool {
	before, after := old.(*corev1.Pod), cur.(*corev1.Pod)
	return before.Generation != after.Generation || children.Finished(before) != children.Finished(after) ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil)
}

func specChanged(old, cur metav1.Object) bool {
	switch before := old.(type) {
	case *corev1.Service:
		return !equality.Semantic.DeepEqual(before.Spec, cur.(*corev1.Service).Spec)
	case *corev1.PersistentVolumeClaim:
		after := cur.(*corev1.PersistentVolumeClaim)
		return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || !equality.Semantic.DeepEqual(before.Status.AllocatedResources, after.Status.AllocatedResources)
	}
	return true
}

// Reconcile counts what one quota's namespace uses.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	q, err := c.quotas.ResourceQuotas(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.mu.Lock()
		delete(c.seen, key)
		c.mu.Unlock()
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	// First, so that what is counted is not older.
	quiet := c.quiet(key, q.ResourceVersion)
	used, err := c.usage(ctx, q)
	if err != nil {
		return 0, err
	}
	status := newStatus(q, used)
	if equality.Semantic.DeepEqual(status, q.Status) {
		return resyncPeriod, nil
	}
	if falls(q.Status.Used, status.Used) && quiet < settleTime {
		runner.Decide(ctx, "wait for requests that were charged")
		return settleTime - quiet, nil
	}
	runner.Decide(ctx, "used %s", quota.Format(status.Used))
	changed := *q
	changed.Status = status
	_, err = c.client.CoreV1().ResourceQuotas(q.Namespace).UpdateStatus(ctx, &changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return resyncPeriod, err
}

// quiet is how long a quota has been at its revision.
func (c *Controller) quiet(key runner.Key, revision string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if c.seen[key].revision != revision {
		c.seen[key] = sighting{revision: revision, at: now}
	}
	return now.Sub(c.seen[key].at)
}

// newStatus is a quota's status with what is used now. What could not be
// counted keeps its last number.
func newStatus(q *corev1.ResourceQuota, used corev1.ResourceList) corev1.ResourceQuotaStatus {
	total := corev1.ResourceList{}
	for name := range q.Spec.Hard {
		if quantity, counted := used[name]; counted {
			total[name] = quantity
		} else if old, known := q.Status.Used[name]; known {
			total[name] = old
		}
	}
	return corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: total}
}

// falls tells whether less of anything is used than before.
func falls(before, after corev1.ResourceList) bool {
	for name, quantity := range after {
		if old, known := before[name]; known && quantity.Cmp(old) < 0 {
			return true
		}
	}
	return false
}
