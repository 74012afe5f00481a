package apiserver

import (
	"context"
	"fmt"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/kinds"
	"github.com/kubesim/kubesim/apiserver/printers"
	"github.com/kubesim/kubesim/apiserver/validation"
)

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
	asScale := *q
	asScale.res = scaleRow(q.res)
	next, err := s.nextScale(&asScale)
	if err != nil {
		return nil, err
	}
	return func(old runtime.Object) (runtime.Object, error) {
		owners := s.scaleOwners(q.res, old)
		before := scaleOf(q.res, old)
		if before.ManagedFields, err = owners.ToSubresource(); err != nil {
			return nil, err
		}
		scale, err := next(before)
		if err != nil {
			return nil, err
		}
		obj, err := s.scaled(q, old, scale.(*autoscalingv1.Scale))
		if err != nil {
			return nil, err
		}
		entries, err := owners.ToParent(accessorOf(scale).GetManagedFields())
		accessorOf(obj).SetManagedFields(entries)
		return obj, err
	}, nil
}

// nextScale makes of an old Scale the one that the request asks for.
func (s *Server) nextScale(q *request) (change, error) {
	if q.verb == "update" {
		obj, err := s.decodeBody(q, q.res.GroupVersionKind())
		if err != nil {
			return nil, err
		}
		if err := q.checkOptions("UpdateOptions", ""); err != nil {
			return nil, err
		}
		return s.tracked(q, func(runtime.Object) (runtime.Object, error) { return obj.DeepCopyObject(), nil }), nil
	}
	media, err := mediaOf(q.r)
	if err != nil {
		return nil, err
	}
	body, err := q.readBody()
	if err != nil {
		return nil, err
	}
	return s.patchChange(q, types.PatchType(media), body)
}

// scaleRow is the row of the Scale that a resource is seen as.
func scaleRow(res *resource) *resource {
	return &resource{Kind: &kinds.Kind{Group: "autoscaling", Version: "v1", Kind: "Scale", Resource: res.Resource, Namespaced: res.Namespaced}}
}

// scaleOwners leads between who owns the replicas of an object and of its Scale.
func (s *Server) scaleOwners(res *resource, obj runtime.Object) *managedfields.ScaleHandler {
	paths := managedfields.ResourcePathMappings{}
	for _, k := range s.table.kinds() {
		if k.Group != res.Group || k.Resource != res.Resource {
			continue
		}
		var path fieldpath.Path // nil in a version without scale: its entries stay
		if k.Scale != nil {
			path = k.Scale.Path()
		}
		paths[k.GroupVersionKind().GroupVersion().String()] = path
	}
	return managedfields.NewScaleHandler(accessorOf(obj).GetManagedFields(), res.GroupVersionKind().GroupVersion(), paths)
}

// scaled is the parent with what a Scale says.
func (s *Server) scaled(q *request, obj runtime.Object, scale *autoscalingv1.Scale) (runtime.Object, error) {
	if err := q.checkName(scale); err != nil {
		return nil, err
	}
	if errs := validation.Scale(scale); len(errs) > 0 {
		return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), scale.Name, errs)
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
	if path := q.res.Scale.Get(obj).Missing; path != "" {
		return apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", path))
	}
	scale := scaleOf(q.res, obj)
	switch q.form.as {
	case "Table":
		return s.writeObject(q, http.StatusOK, s.scaleTable(q, scale))
	case "PartialObjectMetadata":
		p := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: q.form.as, APIVersion: "meta.k8s.io/v1"}, ObjectMeta: scale.ObjectMeta}
		return s.writeObject(q, http.StatusOK, p)
	}
	return s.writeObject(q, http.StatusOK, scale)
}

// scaleTable prints a Scale, which is in no cache, as a Table of one row.
func (s *Server) scaleTable(q *request, scale *autoscalingv1.Scale) *metav1.Table {
	columns := printers.For(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind())
	row := columns.Row(scale, s.clock.Now())
	switch q.query.Get("includeObject") {
	case string(metav1.IncludeNone):
	case string(metav1.IncludeObject):
		row.Object.Object = scale
	default:
		p := &metav1.PartialObjectMetadata{ObjectMeta: scale.ObjectMeta}
		p.TypeMeta = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}
		row.Object.Object = p
	}
	return &metav1.Table{
		TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: "meta.k8s.io/v1"}, ListMeta: metav1.ListMeta{ResourceVersion: scale.ResourceVersion},
		ColumnDefinitions: columns.Definitions, Rows: []metav1.TableRow{row},
	}
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
