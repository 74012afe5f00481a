package resourcequota

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/quota"
)

// usage counts what a namespace uses of a quota's resources. Those that nothing
// is known of are not in the answer.
func (c *Controller) usage(ctx context.Context, q *corev1.ResourceQuota) (corev1.ResourceList, error) {
	now := c.clock.Now()
	pods, err := c.pods.Pods(q.Namespace).List(labels.Everything())
	if err != nil {
		return nil, err
	}
	services, err := c.services.Services(q.Namespace).List(labels.Everything())
	if err != nil {
		return nil, err
	}
	claims, err := c.claims.PersistentVolumeClaims(q.Namespace).List(labels.Everything())
	if err != nil {
		return nil, err
	}
	used := quota.Sum(quota.Total(corev1.Resource("pods"), pods, &q.Spec, now),
		quota.Sum(quota.Total(corev1.Resource("services"), services, &q.Spec, now),
			quota.Total(corev1.Resource("persistentvolumeclaims"), claims, &q.Spec, now)))
	for name, kind := range otherCounts(q) {
		if _, counted := used[name]; counted {
			continue
		}
		if len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
			used[name] = resource.Quantity{Format: resource.DecimalSI} // scopes are for pods and claims
			continue
		}
		n, err := c.counters.count(ctx, kind, q.Namespace)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		used[name] = *resource.NewQuantity(n, resource.DecimalSI)
	}
	return used, nil
}

// otherCounts are the kinds that a quota counts by number alone.
func otherCounts(q *corev1.ResourceQuota) map[corev1.ResourceName]schema.GroupResource {
	counts := map[corev1.ResourceName]schema.GroupResource{}
	for name := range q.Spec.Hard {
		if kind, found := quota.CountOf(name); found {
			counts[name] = kind
		}
	}
	for _, name := range quota.OldCounts() {
		if _, found := q.Spec.Hard[name]; found {
			counts[name] = corev1.Resource(string(name))
		}
	}
	return counts
}

// counters count objects of any kind, and wake namespaces where some came or went.
type counters struct {
	client metadata.Interface
	mapper meta.ResettableRESTMapper

	mu       sync.Mutex
	start    func(schema.GroupVersionResource) cache.SharedIndexInformer // nil before and after the run
	watching map[schema.GroupVersionResource]cache.SharedIndexInformer
}

func newCounters(env runner.Env) *counters {
	return &counters{
		client: env.Metadata, mapper: env.Mapper,
		watching: map[schema.GroupVersionResource]cache.SharedIndexInformer{},
	}
}

// count asks the API server, which knows the number without sending the objects.
func (c *counters) count(ctx context.Context, kind schema.GroupResource, namespace string) (int64, error) {
	gvr, err := c.mapper.ResourceFor(kind.WithVersion(""))
	if err != nil {
		c.mapper.Reset() // it may be a new one
		if gvr, err = c.mapper.ResourceFor(kind.WithVersion("")); err != nil {
			return 0, err
		}
	}
	c.watch(gvr)
	list, err := c.client.Resource(gvr).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, err
	}
	n := int64(len(list.Items))
	if list.RemainingItemCount != nil {
		n += *list.RemainingItemCount
	}
	return n, nil
}

// watch follows a resource from now on.
func (c *counters) watch(gvr schema.GroupVersionResource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.start != nil && c.watching[gvr] == nil {
		c.watching[gvr] = c.start(gvr)
	}
}

// run lets informers start until the context ends, and returns when they have
// ended. wake gets the namespaces of objects that came or went.
func (c *counters) run(ctx context.Context, wake func(namespace string)) {
	var informers sync.WaitGroup
	c.mu.Lock()
	c.start = func(gvr schema.GroupVersionResource) cache.SharedIndexInformer {
		informer := metadatainformer.NewFilteredMetadataInformer(c.client, gvr, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
		// Neither call fails before the informer runs.
		_ = informer.SetTransform(onlyName)
		_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { wake(obj.(metav1.Object).GetNamespace()) },
			DeleteFunc: func(obj any) {
				if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = missed.Obj
				}
				wake(obj.(metav1.Object).GetNamespace())
			},
		})
		informers.Go(func() { informer.RunWithContext(ctx) })
		return informer
	}
	c.mu.Unlock()
	<-ctx.Done()
	c.mu.Lock()
	c.start = nil
	c.mu.Unlock()
	informers.Wait()
}

// onlyName keeps what an informer itself needs.
func onlyName(obj any) (any, error) {
	if object, ok := obj.(*metav1.PartialObjectMetadata); ok {
		object.ObjectMeta = metav1.ObjectMeta{Namespace: object.Namespace, Name: object.Name, UID: object.UID, ResourceVersion: object.ResourceVersion}
	}
	return obj, nil
}
