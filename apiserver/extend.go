package apiserver

import (
	"context"
	"fmt"
	"net/url"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/kubesim/kubesim/apiserver/admission"
	"github.com/kubesim/kubesim/apiserver/admission/dynamic"
	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/customresource"
	"github.com/kubesim/kubesim/apiserver/rbac"
)

// dynamicPlugins are the admission plugins that users extend, in order.
func (s *Server) dynamicPlugins() []admission.Plugin {
	source := extension{cacheLister{s}}
	caller := dynamic.NewCaller(customresource.Resolver(func(namespace, name string, port int32) (*url.URL, error) {
		return s.resolveService(s.ended, namespace, name, port)
	}))
	return []admission.Plugin{
		dynamic.NewMutatingPolicy(source), dynamic.NewMutatingWebhook(source, caller),
		dynamic.NewValidatingPolicy(source), dynamic.NewValidatingWebhook(source, caller),
	}
}

// extension is what webhooks and policies look up.
type extension struct{ cacheLister }

// Cached implements dynamic.Source.
func (x extension) Cached(gvr schema.GroupVersionResource, namespace string) ([]runtime.Object, error) {
	res := x.s.table.get(gvr.Group, gvr.Version, gvr.Resource)
	if res == nil {
		return nil, errNoResource
	}
	var out []runtime.Object
	var err error
	x.s.cache.Resource(res.prefix).Snapshot().Each(res.key(namespace, ""), "", func(e *cache.Entry) bool {
		var obj runtime.Object
		if obj, err = e.Decoded(func() (runtime.Object, error) { return x.s.codec.shared(res, e) }); err == nil {
			out = append(out, obj)
		}
		return err == nil
	})
	return out, err
}

// Versions implements dynamic.Source.
func (x extension) Versions(gvr schema.GroupVersionResource) []schema.GroupVersionResource {
	out := []schema.GroupVersionResource{gvr}
	own := x.s.table.get(gvr.Group, gvr.Version, gvr.Resource)
	if own == nil {
		return out
	}
	for _, k := range x.s.table.kinds() {
		other := k.GroupVersionResource()
		if other.Resource != gvr.Resource || other == gvr {
			continue
		}
		if res := x.s.table.get(other.Group, other.Version, other.Resource); res != nil && res.prefix == own.prefix {
			out = append(out, other)
		}
	}
	return out
}

// Kind implements dynamic.Source.
func (x extension) Kind(gvr schema.GroupVersionResource, subresource string) schema.GroupVersionKind {
	res := x.s.table.get(gvr.Group, gvr.Version, gvr.Resource)
	if res == nil {
		return schema.GroupVersionKind{}
	}
	if sub, ok := res.subresource(subresource); ok && !sub.Kind.Empty() {
		return sub.Kind
	}
	return res.GroupVersionKind()
}

// Resource implements dynamic.Source.
func (x extension) Resource(gvk schema.GroupVersionKind) (schema.GroupVersionResource, bool, error) {
	for _, k := range x.s.kinds() {
		if k.GroupVersionKind() == gvk && k.Stored() {
			return k.GroupVersionResource(), k.Namespaced, nil
		}
	}
	return schema.GroupVersionResource{}, false, fmt.Errorf("no resource has the kind %v", gvk)
}

// Convert implements dynamic.Source.
func (x extension) Convert(obj runtime.Object, to schema.GroupVersionKind) (runtime.Object, error) {
	from := obj.GetObjectKind().GroupVersionKind()
	if from.Empty() {
		known, _, err := x.s.codec.scheme.ObjectKinds(obj)
		if err != nil {
			return nil, err
		}
		from = known[0]
	}
	if from == to {
		return obj, nil
	}
	source, destination := x.row(from), x.row(to)
	if source == nil || destination == nil {
		return nil, fmt.Errorf("%v can't be shown as %v", from, to)
	}
	return convert(obj.DeepCopyObject(), source, destination)
}

// row is the resource of a kind.
func (x extension) row(gvk schema.GroupVersionKind) *resource {
	gvr, _, err := x.Resource(gvk)
	if err != nil {
		return nil
	}
	return x.s.table.get(gvr.Group, gvr.Version, gvr.Resource)
}

// Decode implements dynamic.Source.
func (x extension) Decode(body []byte, gvk schema.GroupVersionKind) (runtime.Object, error) {
	obj, got, err := x.s.codec.request(x.row(gvk), body, gvk, false)
	if err != nil {
		return nil, err
	}
	if *got != gvk {
		return nil, fmt.Errorf("got %v, want %v", got, gvk)
	}
	return obj, nil
}

// Default implements dynamic.Source.
func (x extension) Default(obj runtime.Object, gvr schema.GroupVersionResource) {
	if res := x.s.table.get(gvr.Group, gvr.Version, gvr.Resource); res != nil && res.Default != nil {
		res.Default(obj)
	}
}

// Types implements dynamic.Source.
func (x extension) Types(gvr schema.GroupVersionResource) (managedfields.TypeConverter, error) {
	res := x.s.table.get(gvr.Group, gvr.Version, gvr.Resource)
	if res != nil && res.TypeConverter != nil {
		return res.TypeConverter()
	}
	return x.s.types()
}

// Authorizer implements dynamic.Source.
func (x extension) Authorizer() authorizer.UnconditionalAuthorizer { return x }

// Authorize implements authorizer.UnconditionalAuthorizer.
func (x extension) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	attributes := &rbac.Attributes{
		Verb: a.GetVerb(), Group: a.GetAPIGroup(), Version: a.GetAPIVersion(), Resource: a.GetResource(), Subresource: a.GetSubresource(),
		Namespace: a.GetNamespace(), Name: a.GetName(), User: authenticationv1.UserInfo{},
	}
	if user := a.GetUser(); user != nil {
		attributes.User = authenticationv1.UserInfo{Username: user.GetName(), UID: user.GetUID(), Groups: user.GetGroups()}
	}
	if !a.IsResourceRequest() {
		attributes.Path = a.GetPath()
	}
	allowed, reason := x.s.allowed(attributes)
	if !allowed {
		return authorizer.DecisionNoOpinion, reason, nil
	}
	return authorizer.DecisionAllow, reason, nil
}
