package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubesim/kubesim/apiserver/fieldmanager"
	"github.com/kubesim/kubesim/store"
)

// ownManager is who writes what the server writes by itself.
const ownManager = "kube-apiserver"

// tracked makes a change note whose fields it sets.
func (s *Server) tracked(q *request, f change) change {
	return func(old runtime.Object) (runtime.Object, error) {
		obj, err := f(old)
		if err == nil {
			s.track(q, old, obj)
		}
		return obj, err
	}
}

// track sets the managed fields of obj, which the request makes of live; live is nil
// for a new object. An object whose fields can't be told apart keeps the entries it has.
func (s *Server) track(q *request, live, obj runtime.Object) {
	m, err := s.fieldManager(q.res, q.sub.Name)
	if err == nil {
		if live == nil {
			live = m.Empty()
		}
		err = m.Update(live, obj, q.manager())
	}
	if err != nil {
		s.log.Warn("Kept managed fields as they were", "resource", q.subject(), "object", q.namespace+"/"+q.name, "err", err)
	}
}

// fieldManager is that of a resource or one of its subresources, made at its first use.
func (s *Server) fieldManager(res *resource, sub string) (*fieldmanager.Manager, error) {
	if m, ok := res.managers.Load(sub); ok {
		return m.(*fieldmanager.Manager), nil
	}
	typesOf := s.types
	if res.TypeConverter != nil {
		typesOf = res.TypeConverter
	}
	converter, err := typesOf()
	if err != nil {
		return nil, err
	}
	m, err := fieldmanager.New(fieldmanager.Config{
		Kind: res.GroupVersionKind(), Subresource: sub, Types: converter, Sets: &s.sets, Convertor: convertor{s, res},
		Default: func(obj runtime.Object) {
			if res.Default != nil {
				res.Default(obj)
			}
		},
		New:   func() runtime.Object { return s.codec.new(res.GroupVersionKind()) },
		Reset: s.resetFields(res, sub), Now: s.now,
	})
	if err != nil {
		return nil, err
	}
	res.managers.Store(sub, m)
	return m, nil
}

// manager is who the request's fields belong to: whom it names, else its client.
func (q *request) manager() string {
	if name := q.query.Get("fieldManager"); name != "" {
		return name
	}
	if _, own := q.w.(discard); own {
		return ownManager
	}
	return managerOf(q.r.UserAgent())
}

// managerOf makes a manager's name of a User-Agent: what stands before its version.
func managerOf(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	var b strings.Builder
	for _, r := range name {
		if !unicode.IsPrint(r) {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > metav1validation.FieldManagerMaxLength {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// checkOptions checks the query parameters of a write.
func (q *request) checkOptions(kind string, patch types.PatchType) error {
	path := field.NewPath
	var errs field.ErrorList
	if kind == "PatchOptions" {
		errs = metav1validation.ValidatePatchOptions(&metav1.PatchOptions{FieldManager: q.query.Get("fieldManager"), Force: q.force()}, patch)
	} else {
		errs = metav1validation.ValidateFieldManager(q.query.Get("fieldManager"), path("fieldManager"))
	}
	errs = append(errs, metav1validation.ValidateDryRun(path("dryRun"), q.query["dryRun"])...)
	errs = append(errs, metav1validation.ValidateFieldValidation(path("fieldValidation"), q.query.Get("fieldValidation"))...)
	if len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
	}
	return nil
}

// force is whether an apply takes over what others own, nil where it isn't said.
func (q *request) force() *bool {
	if !q.query.Has("force") {
		return nil
	}
	v := strings.ToLower(q.query.Get("force"))
	force := v != "false" && v != "0"
	return &force
}

// convertor leads between the served versions of a resource, for the fields that
// are managed in other versions than the one written.
type convertor struct {
	s   *Server
	res *resource
}

func (c convertor) Convert(_, _, _ any) error { return fmt.Errorf("unsafe conversion is not served") }

func (c convertor) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// ConvertToVersion implements runtime.ObjectConvertor. It returns obj itself where
// there is nothing to convert.
func (c convertor) ConvertToVersion(obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	from := obj.GetObjectKind().GroupVersionKind()
	to, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{from})
	if gv, isVersion := target.(schema.GroupVersion); isVersion {
		to, ok = gv.WithKind(from.Kind), true
	}
	if !ok {
		return nil, runtime.NewNotRegisteredErrForTarget(c.s.codec.scheme.Name(), nil, target)
	}
	obj, err := c.typed(obj, from)
	if err != nil || from == to {
		return obj, err
	}
	source, destination := c.row(from), c.row(to)
	if source == nil || destination == nil {
		return nil, runtime.NewNotRegisteredErrForKind(c.s.codec.scheme.Name(), to)
	}
	return convert(obj, source, destination)
}

// typed is an object in its Go type, if its kind has one.
func (c convertor) typed(obj runtime.Object, gvk schema.GroupVersionKind) (runtime.Object, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || c.res.Unstructured {
		return obj, nil
	}
	out, err := c.s.codec.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		return nil, err
	}
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return out, nil
}

// row finds another version of the resource.
func (c convertor) row(gvk schema.GroupVersionKind) *resource {
	if gvk == c.res.GroupVersionKind() {
		return c.res
	}
	for _, k := range c.s.table.kinds() {
		if k.GroupVersionKind() != gvk {
			continue
		}
		if res := c.s.table.get(k.Group, k.Version, k.Resource); res != nil && res.prefix == c.res.prefix {
			return res
		}
	}
	return nil
}

// convert takes an object through its stored form into another version.
func convert(obj runtime.Object, from, to *resource) (runtime.Object, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		out := u.DeepCopy()
		return out, to.Custom.FromStored(out)
	}
	if from.Storage != nil {
		obj = from.Storage.To(obj)
	}
	if to.Storage != nil {
		obj = to.Storage.From(obj)
	}
	obj.GetObjectKind().SetGroupVersionKind(to.GroupVersionKind())
	return obj, nil
}

// sameButTimes tells whether a write changes nothing but the times of managed fields,
// and so is not made. value is the new object as it would be stored.
func (s *Server) sameButTimes(res *resource, obj, old runtime.Object, value, stored []byte) bool {
	m, before := accessorOf(obj), accessorOf(old).GetManagedFields()
	after := m.GetManagedFields()
	if len(before) == 0 || len(value) != len(stored) || !fieldmanager.SameButTimes(before, after) {
		return false
	}
	m.SetManagedFields(before)
	defer m.SetManagedFields(after)
	again, err := s.codec.store(res, obj)
	return err == nil && bytes.Equal(again, stored)
}

// smaller is an object without its managed fields, as it would be stored, where the
// store had no room for them. Who applies can't do without.
func (s *Server) smaller(q *request, obj runtime.Object, err error) []byte {
	m := accessorOf(obj)
	if !errors.Is(err, store.ErrTooLarge) || q.applies() || len(m.GetManagedFields()) == 0 {
		return nil
	}
	m.SetManagedFields(nil)
	value, err := s.codec.store(q.res, obj)
	if err != nil {
		return nil
	}
	return value
}
