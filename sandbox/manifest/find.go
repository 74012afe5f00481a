package manifest

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/restmapper"
)

// Find reads the object that a user calls KIND/NAME, where KIND is a kind, a
// resource or a short name, with its group or without: deploy/web, pods/a,
// deployment.apps/web.
func (c *Client) Find(ctx context.Context, kindAndName, namespace string) (*Posted, error) {
	kind, name, ok := strings.Cut(kindAndName, "/")
	if !ok || kind == "" || name == "" {
		return nil, fmt.Errorf("%q: must be KIND/NAME, such as deployment/web", kindAndName)
	}
	mapping, err := c.mappingOf(kind)
	if err != nil {
		return nil, err
	}
	obj, err := c.resource(mapping, namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return &Posted{Object: obj, mapping: mapping}, nil
}

// mappingOf finds the kind that a user calls by any of its names.
func (c *Client) mappingOf(kind string) (*meta.RESTMapping, error) {
	mapper := restmapper.NewShortcutExpander(c.mapper, c.discovery, nil)
	versioned, grouped := schema.ParseResourceArg(strings.ToLower(kind))
	if versioned == nil {
		versioned = &schema.GroupVersionResource{Group: grouped.Group, Resource: grouped.Resource}
	}
	resource, err := mapper.ResourceFor(*versioned)
	if err != nil {
		resource, err = mapper.ResourceFor(grouped.WithVersion(""))
	}
	if err != nil {
		return nil, err
	}
	gvk, err := mapper.KindFor(resource)
	if err != nil {
		return nil, err
	}
	return mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
}
