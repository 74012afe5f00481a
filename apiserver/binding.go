package apiserver

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/apiserver/kinds"
	"github.com/kubesim/kubesim/apiserver/validation"
)

// bind assigns a pod to a node, once.
func (s *Server) bind(ctx context.Context, q *request) error {
	obj, err := s.posted(ctx, q, corev1.SchemeGroupVersion.WithKind("Binding"))
	if err != nil {
		return err
	}
	binding := obj.(*corev1.Binding)
	if q.name == "" { // POST to bindings
		q.name, q.sub = binding.Name, kinds.Subresource{Name: "binding"}
		q.res = s.table.get("", "v1", "pods")
	}
	if err := q.checkURLName(binding, "Binding"); err != nil {
		return err
	}
	if errs := validation.PodBinding(binding); len(errs) > 0 {
		return errs.ToAggregate()
	}
	if err := s.admission.Validate(ctx, q.attributes("CREATE", binding, nil)); err != nil {
		return err
	}
	_, err = s.mutate(ctx, q, func(old runtime.Object) (runtime.Object, error) {
		return s.bound(q, old.(*corev1.Pod), binding)
	})
	if err != nil {
		return err
	}
	return s.writeObject(q, http.StatusCreated, statusCreated())
}

// bound is the pod on its node, with the topology labels of the node.
func (s *Server) bound(q *request, pod *corev1.Pod, b *corev1.Binding) (runtime.Object, error) {
	conflict := func(format string, args ...any) error {
		return apierrors.NewConflict(corev1.Resource("pods/binding"), pod.Name, fmt.Errorf(format, args...))
	}
	switch {
	case b.UID != "" && b.UID != pod.UID:
		return nil, apierrors.NewConflict(corev1.Resource("pods/binding"), pod.Name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", b.UID, pod.UID))
	case pod.DeletionTimestamp != nil:
		return nil, conflict("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return nil, conflict("pod %v is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		return nil, conflict("pod %v has non-empty .spec.schedulingGates", pod.Name)
	}
	pod.Spec.NodeName = b.Target.Name
	for k, v := range b.Annotations {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, k, v)
	}
	for k, v := range s.topologyOf(b.Target.Name) {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, k, v)
	}
	markScheduled(pod, s.now())
	return pod, nil
}

// topologyOf are the zone and region labels of a node.
func (s *Server) topologyOf(node string) map[string]string {
	out := map[string]string{}
	nodes := s.table.get("", "v1", "nodes")
	e := s.cache.Resource(nodes.prefix).Get(nodes.key("", node))
	if e == nil {
		return out
	}
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if v, ok := e.Labels()[key]; ok {
			out[key] = v
		}
	}
	return out
}

// markScheduled keeps the generation that the scheduler looked at.
func markScheduled(pod *corev1.Pod, now metav1.Time) {
	condition := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			condition.ObservedGeneration = c.ObservedGeneration
		}
	}
	setPodCondition(pod, condition)
}
