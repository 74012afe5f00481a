package apiserver

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/admission"
	"github.com/kubesim/kubesim/apiserver/audit"
	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/kinds"
	"github.com/kubesim/kubesim/apiserver/rbac"
)

// cacheLister reads objects for admission plugins.
type cacheLister struct{ s *Server }

// Get reads one object. What the cache does not have it asks the store for.
func (l cacheLister) Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	res := l.s.table.get(gvr.Group, gvr.Version, gvr.Resource)
	if res == nil {
		return nil, errNoResource
	}
	key := res.key(namespace, name)
	e := l.s.cache.Resource(res.prefix).Get(key)
	if e == nil {
		if err := l.s.cache.Sync(ctx); err != nil {
			return nil, err
		}
		if e = l.s.cache.Resource(res.prefix).Get(key); e == nil {
			return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
		}
	}
	return e.Decoded(func() (runtime.Object, error) { return l.s.codec.shared(res, e) })
}

// List reads the objects of a namespace, or all.
func (l cacheLister) List(ctx context.Context, gvr schema.GroupVersionResource, namespace string) ([]runtime.Object, error) {
	res := l.s.table.get(gvr.Group, gvr.Version, gvr.Resource)
	if res == nil {
		return nil, errNoResource
	}
	if err := l.s.cache.Sync(ctx); err != nil {
		return nil, err
	}
	var out []runtime.Object
	var err error
	l.s.cache.Resource(res.prefix).Snapshot().Each(res.key(namespace, ""), "", func(e *cache.Entry) bool {
		var obj runtime.Object
		if obj, err = e.Decoded(func() (runtime.Object, error) { return l.s.codec.shared(res, e) }); err == nil {
			out = append(out, obj)
		}
		return err == nil
	})
	return out, err
}

// UpdateStatus changes an object's status for a plugin, as a compare-and-swap.
func (l cacheLister) UpdateStatus(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string, change func(runtime.Object) error) error {
	q, err := l.s.ownRequest(ctx, gvr, namespace, name)
	if err != nil {
		return err
	}
	q.verb, q.sub = "update", kinds.Subresource{Name: "status"}
	_, err = l.s.mutate(ctx, q, l.s.tracked(q, func(old runtime.Object) (runtime.Object, error) {
		obj := old.DeepCopyObject()
		return obj, change(obj)
	}))
	return err
}

// May implements admission.Judge.
func (l cacheLister) May(user authenticationv1.UserInfo, verb string, resource schema.GroupResource, subresource, namespace, name string) bool {
	if user.Username == "" { // the server itself
		return true
	}
	allowed, _ := l.s.allowed(&rbac.Attributes{
		User: user, Verb: verb, Group: resource.Group, Version: "*", Resource: resource.Resource, Subresource: subresource, Namespace: namespace, Name: name,
	})
	return allowed
}

// attributes describe a request to the admission plugins.
func (q *request) attributes(verb string, obj, old runtime.Object) *admission.Attributes {
	return &admission.Attributes{
		Verb: verb, GVR: schema.GroupVersionResource{Group: q.res.Group, Version: q.res.Version, Resource: q.res.Resource},
		Subresource: q.sub.Name, Namespace: q.namespace, Name: q.name, Object: obj, OldObject: old, DryRun: q.dryRun(),
		User: userOf(q.r.Context()), Options: q.options(verb), Warner: func(text string) { warn(q.w, text) },
		Annotator: audit.From(q.r.Context()).Annotate,
	}
}

// options are those of the query in the form that webhooks get them.
func (q *request) options(verb string) runtime.Object {
	dryRun, manager, validation := q.query["dryRun"], q.query.Get("fieldManager"), q.query.Get("fieldValidation")
	of := func(kind string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: kind} }
	switch {
	case verb == admission.Delete:
		return &metav1.DeleteOptions{TypeMeta: of("DeleteOptions"), DryRun: dryRun}
	case verb == admission.Create:
		return &metav1.CreateOptions{TypeMeta: of("CreateOptions"), DryRun: dryRun, FieldManager: manager, FieldValidation: validation}
	case q.verb == "patch":
		return &metav1.PatchOptions{TypeMeta: of("PatchOptions"), DryRun: dryRun, FieldManager: manager, FieldValidation: validation}
	}
	return &metav1.UpdateOptions{TypeMeta: of("UpdateOptions"), DryRun: dryRun, FieldManager: manager, FieldValidation: validation}
}
