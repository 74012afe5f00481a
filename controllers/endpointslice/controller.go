package endpointslice

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/endpointslice"
	endpointsliceutil "k8s.io/endpointslice/util"

	"github.com/kubesim/kubesim/controllers/runner"
)

const (
	managedBy            = "endpointslice-controller.k8s.io"
	maxEndpointsPerSlice = 100
)

// staleRetry is when to look again at a cache that lags behind our own writes.
const staleRetry = 10 * time.Millisecond

// missingNodeRetry is how soon a Service is looked at again that has a pod on a
// node that does not exist.
const missingNodeRetry = time.Second

// Controller reconciles the EndpointSlices of Services with a selector.
type Controller struct {
	events     record.EventRecorder
	logger     logr.Logger
	services   corelisters.ServiceLister
	pods       corelisters.PodLister
	nodes      corelisters.NodeLister
	slices     discoverylisters.EndpointSliceLister
	reconciler *endpointslice.Reconciler
	written    *endpointsliceutil.EndpointSliceTracker
	triggers   *endpointsliceutil.TriggerTimeTracker
}

// New connects the controller to its informers. Its keys are Services.
func New(env runner.Env) (runner.Controller, error) {
	core, sliceInformer := env.Informers.Core().V1(), env.Informers.Discovery().V1().EndpointSlices()
	c := &Controller{
		events: env.Events("endpoint-slice-controller"), logger: logr.FromSlogHandler(slog.DiscardHandler),
		services: core.Services().Lister(), pods: core.Pods().Lister(), nodes: core.Nodes().Lister(), slices: sliceInformer.Lister(),
		written: endpointsliceutil.NewEndpointSliceTracker(), triggers: endpointsliceutil.NewTriggerTimeTracker(),
	}
	c.reconciler = endpointslice.NewReconciler(env.Client, core.Nodes().Lister(), maxEndpointsPerSlice, c.written,
		nil, c.events, managedBy, endpointslice.WithPreferSameTrafficDistributionEnabled(true))
	resource := corev1.Resource("services")
	return runner.Controller{
		Name: "endpointslice-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: core.Services().Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("pods"), Informer: core.Pods().Informer(), Keys: c.ofPod, Changed: podChanged},
			{Resource: discoveryv1.Resource("endpointslices"), Informer: sliceInformer.Informer(), Keys: c.ofSlice},
			// A pod counts only once its node is known, so the cache must be there.
			{Resource: corev1.Resource("nodes"), Informer: core.Nodes().Informer(), Keys: func(metav1.Object) []runner.Key { return nil }},
		},
	}, nil
}

func podChanged(old, cur metav1.Object) bool {
	return endpointsliceutil.GetPodUpdateProjectionKey(old, cur) != nil
}

// ofPod names the Services that select a pod.
func (c *Controller) ofPod(pod metav1.Object) []runner.Key {
	services, err := c.services.Services(pod.GetNamespace()).List(labels.Everything())
	if err != nil {
		return nil // a lister's never fails
	}
	var keys []runner.Key
	for _, service := range services {
		if service.Spec.Selector != nil && labels.ValidatedSetSelector(service.Spec.Selector).Matches(labels.Set(pod.GetLabels())) {
			keys = append(keys, cache.MetaObjectToName(service))
		}
	}
	return keys
}

// ofSlice wakes the Service of a slice that someone else changed or deleted.
func (c *Controller) ofSlice(obj metav1.Object) []runner.Key {
	slice, ours := obj.(*discoveryv1.EndpointSlice)
	if !ours || !c.reconciler.ManagedByController(slice) {
		return nil
	}
	current, err := c.slices.EndpointSlices(slice.Namespace).Get(slice.Name)
	if gone := err != nil || current.UID != slice.UID; gone {
		if !c.written.Has(slice) || c.written.HandleDeletion(slice) {
			return nil
		}
	} else if !c.written.ShouldSync(slice) {
		return nil
	}
	return []runner.Key{{Namespace: slice.Namespace, Name: slice.Labels[discoveryv1.LabelServiceName]}}
}

// Reconcile brings the slices of one Service up to date.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	service, err := c.services.Services(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		// The garbage collector deletes the slices.
		c.triggers.DeleteService(key.Namespace, key.Name)
		c.reconciler.DeleteService(key.Namespace, key.Name)
		c.written.DeleteService(key.Namespace, key.Name)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if service.Spec.Type == corev1.ServiceTypeExternalName || service.Spec.Selector == nil {
		return 0, nil
	}
	pods, err := c.pods.Pods(key.Namespace).List(labels.ValidatedSetSelector(service.Spec.Selector))
	if err != nil {
		return 0, err
	}
	existing, err := c.existing(key)
	if err != nil {
		return 0, err
	}
	if c.written.StaleSlices(service, existing) {
		runner.Decide(ctx, "wait until the cache shows what was written last")
		return staleRetry, nil
	}
	runner.Decide(ctx, "compare %d pods with %d slices", len(pods), len(existing))
	trigger := c.triggers.ComputeEndpointLastChangeTriggerTime(key.Namespace, service, pods)
	if err := c.reconciler.Reconcile(c.logger, service, pods, existing, trigger); err != nil {
		c.events.Eventf(service, corev1.EventTypeWarning, "FailedToUpdateEndpointSlices",
			"Error updating Endpoint Slices for Service %s/%s: %v", key.Namespace, key.Name, err)
		if node := c.missingNode(pods); node != "" {
			runner.Decide(ctx, "a pod is on %s, which does not exist", node)
			return missingNodeRetry, nil
		}
		return 0, err
	}
	return 0, nil
}

// missingNode names a node that a pod is on and that does not exist, or not yet.
func (c *Controller) missingNode(pods []*corev1.Pod) string {
	for _, pod := range pods {
		if pod.Spec.NodeName == "" {
			continue
		}
		if _, err := c.nodes.Get(pod.Spec.NodeName); apierrors.IsNotFound(err) {
			return pod.Spec.NodeName
		}
	}
	return ""
}

// existing lists the controller's slices of a Service that are not being deleted.
func (c *Controller) existing(key runner.Key) ([]*discoveryv1.EndpointSlice, error) {
	all, err := c.slices.EndpointSlices(key.Namespace).List(labels.SelectorFromSet(labels.Set{
		discoveryv1.LabelServiceName: key.Name, discoveryv1.LabelManagedBy: managedBy,
	}))
	if err != nil {
		return nil, err
	}
	var existing []*discoveryv1.EndpointSlice
	for _, slice := range all {
		if slice.DeletionTimestamp == nil {
			existing = append(existing, slice)
		}
	}
	return existing, nil
}
