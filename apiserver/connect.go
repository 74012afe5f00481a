package apiserver

import (
	"context"

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
	case "serviceaccounts/token":
		return s.createToken
	}
	switch {
	case q.res.Resource == "bindings" && q.res.Group == "":
		return s.bind
	case q.sub.Name == "scale" && q.res.Scale != nil:
		return s.scale
	case q.sub.Rules.Prepare != nil:
		return s.own(q.verb)
	}
	if h := s.onNode(q); h != nil {
		return h
	}
	return func(context.Context, *request) error { return errNoResource }
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
