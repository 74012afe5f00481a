package apiserver

import (
	"context"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// posted reads what is posted to a subresource that keeps nothing of its own,
// such as a Binding, and shows it to the admission plugins that change or refuse
// by the place alone.
func (s *Server) posted(ctx context.Context, q *request, gvk schema.GroupVersionKind) (runtime.Object, error) {
	obj, err := s.decodeBody(q, gvk)
	if err != nil {
		return nil, err
	}
	m := accessorOf(obj)
	if ns := m.GetNamespace(); ns != "" && ns != q.namespace {
		return nil, apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	m.SetNamespace(q.namespace)
	return obj, s.admission.Admit(ctx, q.attributes("CREATE", obj, nil))
}

// checkURLName refuses a name other than the one in the path.
func (q *request) checkURLName(m metav1.Object, kind string) error {
	if m.GetName() != q.name {
		return apierrors.NewBadRequest("name in URL does not match name in " + kind + " object")
	}
	return nil
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
