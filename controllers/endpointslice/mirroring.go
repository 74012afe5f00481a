package endpointslice

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/record"
	endpointsliceutil "k8s.io/endpointslice/util"

	"github.com/kubesim/kubesim/controllers/runner"
)

const (
	mirroredBy = "endpointslicemirroring-controller.k8s.io"
	// leaderAnnotation marks Endpoints that are locks of a leader election.
	leaderAnnotation = "control-plane.alpha.kubernetes.io/leader"
)

// Mirroring copies hand-made Endpoints into EndpointSlices.
type Mirroring struct {
	client    kubernetes.Interface
	events    record.EventRecorder
	services  corelisters.ServiceLister
	endpoints corelisters.EndpointsLister
	slices    discoverylisters.EndpointSliceLister
	written   *endpointsliceutil.EndpointSliceTracker
}

// NewMirroring connects the controller to its informers. Its keys are
// Endpoints, which share their name with their Service.
func NewMirroring(env runner.Env) (runner.Controller, error) {
	core, slices := env.Informers.Core().V1(), env.Informers.Discovery().V1().EndpointSlices()
	m := &Mirroring{
		client: env.Client, events: env.Events("endpoint-slice-mirroring-controller"),
		services: core.Services().Lister(), endpoints: core.Endpoints().Lister(), slices: slices.Lister(),
		written: endpointsliceutil.NewEndpointSliceTracker(),
	}
	resource := corev1.Resource("endpoints")
	return runner.Controller{
		Name: "endpointslice-mirroring-controller", Resource: resource, Reconcile: m.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: core.Endpoints().Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("services"), Informer: core.Services().Informer(), Keys: runner.Self, Changed: selectorCameOrWent},
			{Resource: discoveryv1.Resource("endpointslices"), Informer: slices.Informer(), Keys: m.ofSlice},
		},
	}, nil
}

func selectorCameOrWent(old, cur metav1.Object) bool {
	before, ok := old.(*corev1.Service)
	after, ok2 := cur.(*corev1.Service)
	return ok && ok2 && (before.Spec.Selector == nil) != (after.Spec.Selector == nil)
}

// ofSlice wakes the Endpoints of a mirror that someone else changed or deleted.
func (m *Mirroring) ofSlice(obj metav1.Object) []runner.Key {
	slice, ok := obj.(*discoveryv1.EndpointSlice)
	if !ok || slice.Labels[discoveryv1.LabelManagedBy] != mirroredBy {
		return nil
	}
	current, err := m.slices.EndpointSlices(slice.Namespace).Get(slice.Name)
	if gone := err != nil || current.UID != slice.UID; gone {
		if !m.written.Has(slice) || m.written.HandleDeletion(slice) {
			return nil
		}
	} else if !m.written.ShouldSync(slice) {
		return nil
	}
	return []runner.Key{{Namespace: slice.Namespace, Name: slice.Labels[discoveryv1.LabelServiceName]}}
}

// Reconcile makes the mirrors of one Endpoints object, or removes them.
func (m *Mirroring) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	endpoints, err := m.endpoints.Endpoints(key.Namespace).Get(key.Name)
	if err != nil && !apierrors.IsNotFound(err) {
		return 0, err
	}
	service, serviceErr := m.services.Services(key.Namespace).Get(key.Name)
	if serviceErr != nil && !apierrors.IsNotFound(serviceErr) {
		return 0, serviceErr
	}
	existing, listErr := m.slices.EndpointSlices(key.Namespace).List(labels.SelectorFromSet(labels.Set{
		discoveryv1.LabelServiceName: key.Name, discoveryv1.LabelManagedBy: mirroredBy,
	}))
	if listErr != nil {
		return 0, listErr
	}
	if err != nil || serviceErr != nil || !mirrored(endpoints) || service.Spec.Selector != nil {
		m.written.DeleteService(key.Namespace, key.Name)
		return 0, m.delete(ctx, existing)
	}
	if m.written.StaleSlices(service, existing) {
		runner.Decide(ctx, "wait until the cache shows what was written last")
		return staleRetry, nil
	}
	plan := planMirrors(mirrorsOf(endpoints), existing)
	runner.Decide(ctx, "create %d, update %d, delete %d slices", len(plan.create), len(plan.update), len(plan.delete))
	if err := m.carryOut(ctx, plan); err != nil {
		m.events.Eventf(endpoints, corev1.EventTypeWarning, "FailedToUpdateEndpointSlices",
			"Error updating Endpoint Slices for Endpoints %s/%s: %v", key.Namespace, key.Name, err)
		return 0, err
	}
	return 0, nil
}

// mirrored tells whether Endpoints are to be mirrored, given a Service without selector.
func mirrored(endpoints *corev1.Endpoints) bool {
	_, lock := endpoints.Annotations[leaderAnnotation]
	return !lock && endpoints.Labels[discoveryv1.LabelSkipMirror] != "true"
}

func (m *Mirroring) carryOut(ctx context.Context, plan plan) error {
	for _, slice := range plan.create {
		created, err := m.client.DiscoveryV1().EndpointSlices(slice.Namespace).Create(ctx, slice, metav1.CreateOptions{})
		if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return nil
		}
		if err != nil {
			return err
		}
		m.written.Update(created)
	}
	for _, slice := range plan.update {
		updated, err := m.client.DiscoveryV1().EndpointSlices(slice.Namespace).Update(ctx, slice, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		m.written.Update(updated)
	}
	return m.delete(ctx, plan.delete)
}

func (m *Mirroring) delete(ctx context.Context, slices []*discoveryv1.EndpointSlice) error {
	for _, slice := range slices {
		err := m.client.DiscoveryV1().EndpointSlices(slice.Namespace).Delete(ctx, slice.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		m.written.ExpectDeletion(slice)
	}
	return nil
}
