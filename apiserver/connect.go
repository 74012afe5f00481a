package apiserver

import (
	"context"
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/kinds"
	"github.com/kubesim/kubesim/apiserver/validation"
)

// handler serves one request.
type handler = func(context.Context, *request) error

// connect finds the handler of a subresource other than status.
func (s *Server) connect(q *request) handler {
	switch q.res.Resource + "/" + q.sub.Name {
	case "pods/binding":
		return s.bind
	case "pods/eviction":
		return s.evict
	}
	switch {
	case q.res.Resource == "bindings" && q.res.Group == "":
		return s.bind
	case q.sub.Name == "scale" && q.res.Scale != nil:
		return s.scale
	case q.sub.Rules.Prepare != nil:
		return s.own(q.verb)
	}
	return func(context.Context, *request) error {
		return statusError(http.StatusNotImplemented, "NotImplemented", nil,
			"the %s subresource of %s is not simulated yet", q.sub.Name, q.subject())
	}
}

// bind assigns a pod to a node, once.
func (s *Server) bind(ctx context.Context, q *request) error {
	obj, err := s.decodeBody(q, corev1.SchemeGroupVersion.WithKind("Binding"))
	if err != nil {
		return err
	}
	binding := obj.(*corev1.Binding)
	if q.name == "" { // POST to bindings
		q.name, q.sub = binding.Name, kinds.Subresource{Name: "binding"}
		q.res = s.table.get("", "v1", "pods")
	}
	if binding.Name != "" && binding.Name != q.name {
		return q.checkName(&binding.ObjectMeta)
	}
	if errs := validation.PodBinding(binding); len(errs) > 0 {
		return errs.ToAggregate()
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

func markScheduled(pod *corev1.Pod, now metav1.Time) {
	condition := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now, ObservedGeneration: 0}
	for i, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			condition.ObservedGeneration = c.ObservedGeneration
			pod.Status.Conditions[i] = condition
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, condition)
}

// scale shows or sets the number of replicas.
func (s *Server) scale(ctx context.Context, q *request) error {
	if q.verb == "get" {
		if err := s.fresh(ctx, q.query.Get("resourceVersion")); err != nil {
			return err
		}
		e, err := s.lookup(q)
		if err != nil {
			return err
		}
		return s.writeScale(q, e)
	}
	f, err := s.scaleChange(q)
	if err != nil {
		return err
	}
	e, err := s.mutate(ctx, q, f)
	if err != nil {
		return err
	}
	return s.writeScale(q, e)
}

// scaleChange reads the new Scale, or the patch of it, from the body.
func (s *Server) scaleChange(q *request) (change, error) {
	gvk := autoscalingv1.SchemeGroupVersion.WithKind("Scale")
	var next func(old *autoscalingv1.Scale) (*autoscalingv1.Scale, error)
	if q.verb == "update" {
		obj, err := s.decodeBody(q, gvk)
		if err != nil {
			return nil, err
		}
		next = func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error) { return obj.(*autoscalingv1.Scale), nil }
	} else {
		media, err := mediaOf(q.r)
		if err != nil {
			return nil, err
		}
		body, err := readBody(q.r)
		if err != nil {
			return nil, err
		}
		parent := *q
		parent.res = &resource{Kind: &kinds.Kind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Resource: q.res.Resource, Namespaced: q.res.Namespaced}}
		apply, err := s.patcher(&parent, types.PatchType(media), body)
		if err != nil {
			return nil, err
		}
		next = func(old *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
			obj, err := s.patched(&parent, old, apply)
			if err != nil {
				return nil, err
			}
			return obj.(*autoscalingv1.Scale), nil
		}
	}
	return func(old runtime.Object) (runtime.Object, error) {
		scale, err := next(scaleOf(q.res, old))
		if err != nil {
			return nil, err
		}
		return s.scaled(q, old, scale)
	}, nil
}

// scaled is the parent with what a Scale says.
func (s *Server) scaled(q *request, obj runtime.Object, scale *autoscalingv1.Scale) (runtime.Object, error) {
	if err := q.checkName(scale); err != nil {
		return nil, err
	}
	if scale.Spec.Replicas < 0 {
		message := fmt.Sprintf("Invalid value: %d: must be greater than or equal to 0", scale.Spec.Replicas)
		return nil, statusError(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, &metav1.StatusDetails{
			Name: q.name, Group: autoscalingv1.GroupName, Kind: "Scale",
			Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Message: message, Field: "spec.replicas"}},
		}, "Scale.autoscaling %q is invalid: spec.replicas: %s", q.name, message)
	}
	m := accessorOf(obj)
	if scale.UID != "" {
		m.SetUID(scale.UID)
	}
	if scale.ResourceVersion != "" {
		m.SetResourceVersion(scale.ResourceVersion)
	}
	q.res.Scale.Set(obj, scale.Spec.Replicas)
	return obj, nil
}

func (s *Server) writeScale(q *request, e *cache.Entry) error {
	obj, err := s.codec.object(q.res, e)
	if err != nil {
		return err
	}
	return s.writeObject(q, http.StatusOK, scaleOf(q.res, obj))
}

func scaleOf(res *resource, obj runtime.Object) *autoscalingv1.Scale {
	m, v := accessorOf(obj), res.Scale.Get(obj)
	return &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: "Scale", APIVersion: "autoscaling/v1"},
		ObjectMeta: metav1.ObjectMeta{
			Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(),
			ResourceVersion: m.GetResourceVersion(), CreationTimestamp: m.GetCreationTimestamp(),
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: v.Replicas},
		Status: autoscalingv1.ScaleStatus{Replicas: v.StatusReplicas, Selector: v.Selector},
	}
}

// review answers the kinds that are asked, not stored. Without authorization
// (see the README) everybody may do everything.
func (s *Server) review(q *request) handler {
	if q.res.Group != authorizationv1.GroupName && q.res.Group != authenticationv1.GroupName {
		return nil
	}
	return func(_ context.Context, q *request) error {
		obj, err := s.decodeBody(q, q.res.GroupVersionKind())
		if err != nil {
			return err
		}
		status := authorizationv1.SubjectAccessReviewStatus{Allowed: true}
		user := authenticationv1.UserInfo{Username: "kubesim:local", Groups: []string{"system:masters", "system:authenticated"}}
		switch r := obj.(type) {
		case *authorizationv1.SelfSubjectAccessReview:
			r.Status = status
		case *authorizationv1.SubjectAccessReview:
			r.Status = status
		case *authorizationv1.LocalSubjectAccessReview:
			r.Status = status
		case *authorizationv1.SelfSubjectRulesReview:
			r.Status = authorizationv1.SubjectRulesReviewStatus{
				ResourceRules:    []authorizationv1.ResourceRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
				NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}},
			}
		case *authenticationv1.SelfSubjectReview:
			r.Status.UserInfo = user
		case *authenticationv1.TokenReview:
			r.Status = authenticationv1.TokenReviewStatus{}
		}
		obj.GetObjectKind().SetGroupVersionKind(q.res.GroupVersionKind())
		return s.writeObject(q, http.StatusCreated, obj)
	}
}
