package namespace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// finalizerWait is how long finalizers of others are taken to last.
const finalizerWait = 15 * time.Second

// A resource is one that namespaces may contain.
type resource struct {
	schema.GroupVersionResource
	// collectable: the server deletes all objects in one request.
	collectable bool
	listable    bool
}

// emptied is the outcome of an attempt to empty a namespace.
type emptied struct {
	wait       time.Duration // until the rest may have gone; 0 if none is left
	conditions []corev1.NamespaceCondition
}

// empty deletes what can be deleted now. A failure of one resource does not
// keep the others.
func (c *Controller) empty(ctx context.Context, namespace *corev1.Namespace) (emptied, error) {
	found := &findings{remaining: map[schema.GroupVersionResource]int{}, finalizers: map[string]int{}}
	resources := c.discover(found)
	var wait time.Duration
	isPods := func(r resource) bool { return r.Group == "" && r.Resource == "pods" }
	if i := slices.IndexFunc(resources, isPods); i >= 0 {
		pods := resources[i]
		resources = slices.Delete(resources, i, i+1)
		wait = c.emptyOf(ctx, namespace, pods, found)
		if found.remaining[pods.GroupVersionResource] > 0 {
			resources = nil // their turn comes once the pods have gone
		}
	}
	for _, r := range resources {
		wait = max(wait, c.emptyOf(ctx, namespace, r, found))
	}
	return emptied{wait: wait, conditions: found.conditions()},
		errors.Join(append([]error{found.discovery, found.parsing}, found.content...)...)
}

// discover lists the deletable namespaced resources, each in one version.
func (c *Controller) discover(found *findings) []resource {
	lists, err := c.client.Discovery().ServerPreferredNamespacedResources()
	found.discovery = err // partial results are used nonetheless
	var resources []resource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			found.parsing = errors.Join(found.parsing, err)
			continue
		}
		for _, r := range list.APIResources {
			if slices.Contains(r.Verbs, "delete") {
				resources = append(resources, resource{
					GroupVersionResource: version.WithResource(r.Name),
					collectable:          slices.Contains(r.Verbs, "deletecollection"),
					listable:             slices.Contains(r.Verbs, "list"),
				})
			}
		}
	}
	return resources
}

// emptyOf deletes the namespace's objects of one resource and returns how
// long those that remain may take.
func (c *Controller) emptyOf(ctx context.Context, namespace *corev1.Namespace, r resource, found *findings) time.Duration {
	grace, err := c.grace(ctx, namespace, r)
	if err == nil {
		err = c.delete(ctx, namespace.Name, r)
	}
	if err != nil {
		found.content = append(found.content, err)
		return grace
	}
	left, err := c.list(ctx, namespace.Name, r)
	if err != nil {
		found.content = append(found.content, err)
		return grace
	}
	if len(left) == 0 {
		return 0
	}
	found.remaining[r.GroupVersionResource] = len(left)
	finalized := false
	for _, object := range left {
		for _, finalizer := range object.Finalizers {
			found.finalizers[finalizer]++
			finalized = true
		}
	}
	switch {
	case grace > 0:
		return grace
	case finalized:
		return finalizerWait
	}
	found.content = append(found.content, fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %v", namespace.Name, r.GroupVersionResource))
	return 0
}

// delete asks for the deletion of all objects of a resource.
func (c *Controller) delete(ctx context.Context, namespace string, r resource) error {
	background := metav1.DeletePropagationBackground
	opts := metav1.DeleteOptions{PropagationPolicy: &background}
	client := c.metadata.Resource(r.GroupVersionResource).Namespace(namespace)
	if r.collectable {
		err := client.DeleteCollection(ctx, opts, metav1.ListOptions{})
		// As unlisted as the verb may be, some servers' resources lack it after all.
		if !apierrors.IsMethodNotSupported(err) && !apierrors.IsNotFound(err) {
			return err
		}
	}
	objects, err := c.list(ctx, namespace, r)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := client.Delete(ctx, object.Name, opts); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
			return err
		}
	}
	return nil
}

// list returns nothing of a resource that can't be listed or is served no more.
func (c *Controller) list(ctx context.Context, namespace string, r resource) ([]metav1.PartialObjectMetadata, error) {
	if !r.listable {
		return nil, nil
	}
	list, err := c.metadata.Resource(r.GroupVersionResource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// grace is the longest that the namespace's pods may take to stop, and 0 once
// that has passed since the deletion.
func (c *Controller) grace(ctx context.Context, namespace *corev1.Namespace, r resource) (time.Duration, error) {
	if r.Group != "" || r.Resource != "pods" {
		return 0, nil
	}
	pods, err := c.client.CoreV1().Pods(namespace.Name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	var grace time.Duration
	for i := range pods.Items {
		pod := &pods.Items[i]
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil && !ended {
			grace = max(grace, time.Duration(*seconds)*time.Second)
		}
	}
	if c.clock.Since(namespace.DeletionTimestamp.Time) >= grace {
		return 0, nil
	}
	return grace, nil
}
