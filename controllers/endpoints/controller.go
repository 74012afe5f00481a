package endpoints

import (
	"context"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	endpointsliceutil "k8s.io/endpointslice/util"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

const (
	managedByLabel = "endpoints.kubernetes.io/managed-by"
	managedBy      = "endpoint-controller"
	// staleRetry is how soon a Service is looked at again whose Endpoints are not
	// in the cache yet.
	staleRetry = 10 * time.Millisecond
)

// Controller reconciles the Endpoints of Services.
type Controller struct {
	client    kubernetes.Interface
	events    record.EventRecorder
	services  corelisters.ServiceLister
	pods      corelisters.PodLister
	endpoints corelisters.EndpointsLister
	triggers  *endpointsliceutil.TriggerTimeTracker
}

// New connects the controller to its informers. Its keys are Services.
func New(env runner.Env) (runner.Controller, error) {
	core := env.Informers.Core().V1()
	c := &Controller{
		client: env.Client, events: env.Events("endpoint-controller"),
		services: core.Services().Lister(), pods: core.Pods().Lister(), endpoints: core.Endpoints().Lister(),
		triggers: endpointsliceutil.NewTriggerTimeTracker(),
	}
	resource := corev1.Resource("services")
	return runner.Controller{
		Name: "endpoints-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: core.Services().Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("pods"), Informer: core.Pods().Informer(), Keys: c.ofPod, Changed: podChanged},
			{
				Resource: corev1.Resource("endpoints"), Informer: core.Endpoints().Informer(), Keys: c.ofEndpoints,
				Changed: func(metav1.Object, metav1.Object) bool { return false },
			},
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

// ofEndpoints wakes the Service whose Endpoints went, and looks after those
// of ours whose Service may have gone while nobody watched. Hand-made ones are
// not touched for being there.
func (c *Controller) ofEndpoints(endpoints metav1.Object) []runner.Key {
	_, err := c.endpoints.Endpoints(endpoints.GetNamespace()).Get(endpoints.GetName())
	if err == nil && endpoints.GetLabels()[managedByLabel] != managedBy {
		return nil
	}
	return runner.Self(endpoints)
}

// Reconcile brings the Endpoints of one Service up to date.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	service, err := c.services.Services(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, c.remove(ctx, key)
	}
	if err != nil {
		return 0, err
	}
	if service.Spec.Type == corev1.ServiceTypeExternalName || service.Spec.Selector == nil {
		return 0, nil // whoever made the Service cares for its endpoints
	}
	pods, err := c.pods.Pods(key.Namespace).List(labels.ValidatedSetSelector(service.Spec.Selector))
	if err != nil {
		return 0, err
	}
	// Asked for at every run: it remembers which changes were seen.
	trigger := c.triggers.ComputeEndpointLastChangeTriggerTime(key.Namespace, service, pods)
	current, err := c.endpoints.Endpoints(key.Namespace).Get(key.Name)
	if err != nil && !apierrors.IsNotFound(err) {
		return 0, err
	}
	create := err != nil
	if create {
		current = &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace}}
	}
	subsets, truncated := truncate(subsetsOf(service, pods))
	desired := desiredEndpoints(current, service, subsets, trigger, truncated)
	if !create && unchanged(current, desired) {
		return 0, nil
	}
	err = c.write(ctx, service, desired, create)
	if create && apierrors.IsAlreadyExists(err) {
		runner.Decide(ctx, "the cache does not show the Endpoints yet")
		return staleRetry, nil
	}
	return 0, err
}

func (c *Controller) remove(ctx context.Context, key runner.Key) error {
	c.triggers.DeleteService(key.Namespace, key.Name)
	if _, err := c.endpoints.Endpoints(key.Namespace).Get(key.Name); apierrors.IsNotFound(err) {
		return nil
	}
	runner.Decide(ctx, "delete the Endpoints of the Service that went")
	err := c.client.CoreV1().Endpoints(key.Namespace).Delete(ctx, key.Name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (c *Controller) write(ctx context.Context, service *corev1.Service, desired *corev1.Endpoints, create bool) error {
	client := c.client.CoreV1().Endpoints(service.Namespace)
	if create {
		runner.Decide(ctx, "create Endpoints with %d subsets", len(desired.Subsets))
		_, err := client.Create(ctx, desired, metav1.CreateOptions{})
		switch {
		case children.NamespaceGone(err):
			return nil
		case err == nil, apierrors.IsAlreadyExists(err):
			return err
		}
		c.events.Eventf(desired, corev1.EventTypeWarning, "FailedToCreateEndpoint", "Failed to create endpoint for service %v/%v: %v", service.Namespace, service.Name, err)
		return err
	}
	runner.Decide(ctx, "update Endpoints to %d subsets", len(desired.Subsets))
	_, err := client.Update(ctx, desired, metav1.UpdateOptions{})
	if err != nil {
		c.events.Eventf(desired, corev1.EventTypeWarning, "FailedToUpdateEndpoint", "Failed to update endpoint %v/%v: %v", service.Namespace, service.Name, err)
	}
	return err
}

// desiredEndpoints has the Service's labels and ours, and other annotations as they were.
func desiredEndpoints(current *corev1.Endpoints, service *corev1.Service, subsets []corev1.EndpointSubset, trigger time.Time, truncated bool) *corev1.Endpoints {
	desired := current.DeepCopy()
	desired.Subsets = subsets
	desired.Labels = map[string]string{}
	maps.Copy(desired.Labels, service.Labels)
	desired.Labels[managedByLabel] = managedBy
	delete(desired.Labels, corev1.IsHeadlessService)
	if service.Spec.ClusterIP == "" || service.Spec.ClusterIP == corev1.ClusterIPNone {
		desired.Labels[corev1.IsHeadlessService] = ""
	}
	if desired.Annotations == nil {
		desired.Annotations = map[string]string{}
	}
	delete(desired.Annotations, corev1.EndpointsLastChangeTriggerTime)
	if !trigger.IsZero() {
		desired.Annotations[corev1.EndpointsLastChangeTriggerTime] = trigger.UTC().Format(time.RFC3339Nano)
	}
	delete(desired.Annotations, corev1.EndpointsOverCapacity)
	if truncated {
		desired.Annotations[corev1.EndpointsOverCapacity] = "truncated"
	}
	return desired
}

// unchanged ignores the trigger time, which alone is no reason to write.
func unchanged(current, desired *corev1.Endpoints) bool {
	return apiequality.Semantic.DeepEqual(current.Subsets, desired.Subsets) &&
		maps.Equal(current.Labels, desired.Labels) &&
		current.Annotations[corev1.EndpointsOverCapacity] == desired.Annotations[corev1.EndpointsOverCapacity]
}
