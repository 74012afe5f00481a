package apiserver

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func (s *Server) update(ctx context.Context, q *request) error {
	if err := q.checkOptions("UpdateOptions", ""); err != nil {
		return err
	}
	obj, err := s.decodeBody(q, q.res.GroupVersionKind())
	if err != nil {
		return err
	}
	m := accessorOf(obj)
	if err := q.checkName(m); err != nil {
		return err
	}
	s.applyDefaults(q, obj)
	q.dropDuplicateOwners(m, "")
	e, err := s.mutate(ctx, q, s.tracked(q, func(runtime.Object) (runtime.Object, error) { return obj.DeepCopyObject(), nil }))
	if apierrors.IsNotFound(err) && q.res.CreateOnUpdate && q.sub.Name == "" && m.GetUID() == "" {
		m.SetResourceVersion("")
		if e, err = s.createObject(ctx, q, obj); err == nil {
			return s.writeEntry(q, http.StatusCreated, e)
		}
	}
	if err != nil {
		return err
	}
	return s.writeEntry(q, http.StatusOK, e)
}

// checkName makes sure that body and path speak of the same object.
func (q *request) checkName(m metav1.Object) error {
	switch {
	case m.GetName() == "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", q.name))
	case m.GetName() != q.name:
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(), q.name))
	case q.namespace != "" && m.GetNamespace() != "" && m.GetNamespace() != q.namespace:
		return apierrors.NewBadRequest(fmt.Sprintf("the namespace of the object (%s) does not match the namespace on the request (%s)", m.GetNamespace(), q.namespace))
	}
	return q.place(m)
}
