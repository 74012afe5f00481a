package dynamic

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/kubesim/kubesim/apiserver/admission"
)

// Source is what the plugins look up.
type Source interface {
	admission.Lister
	// Cached lists the objects of a namespace, or all, as the cache has them.
	Cached(gvr schema.GroupVersionResource, namespace string) ([]runtime.Object, error)
	// Versions are those that a resource is served in, gvr's own first.
	Versions(gvr schema.GroupVersionResource) []schema.GroupVersionResource
	// Kind is what a resource or a subresource consists of.
	Kind(gvr schema.GroupVersionResource, subresource string) schema.GroupVersionKind
	// Resource is where objects of a kind are.
	Resource(gvk schema.GroupVersionKind) (gvr schema.GroupVersionResource, namespaced bool, err error)
	// Convert shows an object in another version. It may return obj.
	Convert(obj runtime.Object, to schema.GroupVersionKind) (runtime.Object, error)
	// Decode reads what a webhook has made of an object.
	Decode(json []byte, gvk schema.GroupVersionKind) (runtime.Object, error)
	// Default fills in what a new part of an object leaves out.
	Default(obj runtime.Object, gvr schema.GroupVersionResource)
	// Types is the schema of a kind's fields.
	Types(gvr schema.GroupVersionResource) (managedfields.TypeConverter, error)
	// Authorizer answers what CEL expressions ask of authorizer.
	Authorizer() authorizer.UnconditionalAuthorizer
}

// invocation is a request seen in the version that a rule names.
type invocation struct {
	*admission.Attributes
	gvr          schema.GroupVersionResource
	gvk          schema.GroupVersionKind
	object, old  runtime.Object // in gvk, nil as in Attributes
	source       Source
	asRequested  schema.GroupVersionKind
	namespaceObj *corev1.Namespace
}

// invoke shows a request in a version.
func invoke(ctx context.Context, source Source, a *admission.Attributes, gvr schema.GroupVersionResource) (*invocation, error) {
	in := &invocation{
		Attributes: a, gvr: gvr, gvk: source.Kind(gvr, a.Subresource), source: source, asRequested: source.Kind(a.GVR, a.Subresource),
	}
	var err error
	if in.object, err = in.shown(a.Object); err != nil {
		return nil, err
	}
	if in.old, err = in.shown(a.OldObject); err != nil {
		return nil, err
	}
	if a.Namespace != "" && a.GVR.Resource != "namespaces" {
		if in.namespaceObj, err = namespaceOf(ctx, source, a.Namespace); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// shown is a copy of an object in the version of the invocation, with its kind.
func (in *invocation) shown(obj runtime.Object) (runtime.Object, error) {
	if obj == nil {
		return nil, nil
	}
	out, err := in.source.Convert(obj, in.gvk)
	if err != nil {
		return nil, fmt.Errorf("showing a %v as %v: %w", in.asRequested, in.gvk, err)
	}
	if out == obj {
		out = obj.DeepCopyObject()
	}
	out.GetObjectKind().SetGroupVersionKind(in.gvk)
	return out, nil
}

// attributes are the invocation as the CEL library wants it.
func (in *invocation) attributes() *k8sadmission.VersionedAttributes {
	record := k8sadmission.NewAttributesRecord(in.object, in.old, in.asRequested, in.Namespace, in.Name, in.GVR, in.Subresource,
		k8sadmission.Operation(in.Verb), in.Options, in.DryRun, userInfo(in.Attributes))
	return &k8sadmission.VersionedAttributes{
		Attributes: record, VersionedKind: in.gvk,
		VersionedObject: k8sadmission.NewLazyObject(in.object), VersionedOldObject: k8sadmission.NewLazyObject(in.old),
	}
}

func userInfo(a *admission.Attributes) user.Info {
	extra := map[string][]string{}
	for key, values := range a.User.Extra {
		extra[key] = values
	}
	return &user.DefaultInfo{Name: a.User.Username, UID: a.User.UID, Groups: a.User.Groups, Extra: extra}
}

func namespaceOf(ctx context.Context, source Source, name string) (*corev1.Namespace, error) {
	obj, err := source.Get(ctx, corev1.SchemeGroupVersion.WithResource("namespaces"), "", name)
	if err != nil {
		return nil, err
	}
	ns, ok := obj.(*corev1.Namespace)
	if !ok {
		return nil, fmt.Errorf("namespace %s is a %T", name, obj)
	}
	return ns, nil
}

// byName sorts objects, since configurations count in the order of their names.
func byName(objects []runtime.Object) []runtime.Object {
	slices.SortFunc(objects, func(a, b runtime.Object) int { return strings.Compare(nameOf(a), nameOf(b)) })
	return objects
}

func nameOf(obj runtime.Object) string {
	if m := metaOf(obj); m != nil {
		return m.GetName()
	}
	return ""
}

// metaOf is nil for what has no metadata.
func metaOf(obj runtime.Object) metav1.Object {
	if obj == nil {
		return nil
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return m
}

// empty is a new object of the same type.
func empty(like runtime.Object) runtime.Object {
	return reflect.New(reflect.TypeOf(like).Elem()).Interface().(runtime.Object)
}
