package manifest

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kubesim/kubesim/trace"
)

// Client posts and follows objects of any kind. Make it with NewClient.
type Client struct {
	dynamic   dynamic.Interface
	discovery discovery.CachedDiscoveryInterface
	mapper    meta.ResettableRESTMapper
}

// NewClient makes a client of an API server.
func NewClient(config *rest.Config) (*Client, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	documents, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClient(documents)
	return &Client{
		dynamic: objects, discovery: cached,
		mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached),
	}, nil
}

// Posted is an object as the server answered it.
type Posted struct {
	Object  *unstructured.Unstructured
	Created bool
	mapping *meta.RESTMapping
}

// Name is how kubectl calls the object: deployment.apps/web.
func (p *Posted) Name() string { return kindName(p.mapping, p.Object.GetName()) }

// TraceName is how spans call the object.
func (p *Posted) TraceName() string {
	return trace.ObjectName(p.mapping.Resource.Resource, p.mapping.Resource.Group, p.Object.GetNamespace(), p.Object.GetName())
}

func kindName(mapping *meta.RESTMapping, name string) string {
	kind := strings.ToLower(mapping.GroupVersionKind.Kind)
	if group := mapping.GroupVersionKind.Group; group != "" {
		kind += "." + group
	}
	return kind + "/" + name
}

// Post creates an object, or brings the one that exists in line with it.
func (c *Client) Post(ctx context.Context, obj *unstructured.Unstructured) (*Posted, error) {
	gvk := obj.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		c.mapper.Reset() // the manifest before may have defined the kind
		mapping, err = c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	if err != nil {
		return nil, err
	}
	resource := c.resource(mapping, obj.GetNamespace())
	answer, err := resource.Create(ctx, obj, metav1.CreateOptions{})
	if err == nil {
		return &Posted{Object: answer, Created: true, mapping: mapping}, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("%s: %w", kindName(mapping, obj.GetName()), err)
	}
	patch, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	answer, err = resource.Patch(ctx, obj.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kindName(mapping, obj.GetName()), err)
	}
	return &Posted{Object: answer, mapping: mapping}, nil
}

// resource is where the objects of a kind are; a manifest without a namespace means default.
func (c *Client) resource(mapping *meta.RESTMapping, namespace string) dynamic.ResourceInterface {
	resource := c.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return resource
	}
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return resource.Namespace(namespace)
}
