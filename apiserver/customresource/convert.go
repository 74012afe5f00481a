package customresource

import (
	"fmt"
	"net/url"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/webhook"
)

// Converters makes converters of definitions. It keeps the connections to webhooks.
type Converters struct {
	factory func() (*conversion.CRConverterFactory, error)
}

// Resolver finds the address of a webhook that is named by its Service.
type Resolver func(namespace, name string, port int32) (*url.URL, error)

// ResolveEndpoint makes a Resolver fit the webhook library.
func (r Resolver) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return r(namespace, name, port)
}

// NewConverters returns Converters, which do nothing before the first conversion.
func NewConverters(resolve Resolver) *Converters {
	asTheyAre := func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r }
	return &Converters{sync.OnceValues(func() (*conversion.CRConverterFactory, error) {
		return conversion.NewCRConverterFactory(resolve, asTheyAre)
	})}
}

// converter leads between the versions of a definition.
type converter func() (runtime.ObjectConvertor, error)

func (c *Converters) of(crd *apiextensionsv1.CustomResourceDefinition) converter {
	return sync.OnceValues(func() (runtime.ObjectConvertor, error) {
		factory, err := c.factory()
		if err != nil {
			return nil, err
		}
		_, unsafe, err := factory.NewConverter(crd)
		return unsafe, err
	})
}

// convert turns objects into another version, in place and in one call.
func (c converter) convert(objs []*unstructured.Unstructured, to schema.GroupVersion) error {
	var list unstructured.UnstructuredList
	var moved []*unstructured.Unstructured
	for _, u := range objs {
		if u.GroupVersionKind().GroupVersion() != to {
			list.Items, moved = append(list.Items, *u), append(moved, u)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	convertor, err := c()
	if err != nil {
		return err
	}
	list.SetGroupVersionKind(moved[0].GroupVersionKind()) // as which errors name it
	out, err := convertor.ConvertToVersion(&list, to)
	if err != nil {
		return err
	}
	converted, ok := out.(*unstructured.UnstructuredList)
	if !ok || len(converted.Items) != len(moved) {
		return fmt.Errorf("conversion of %v to %s lost objects", moved[0].GroupVersionKind(), to)
	}
	for i := range moved {
		*moved[i] = converted.Items[i]
	}
	return nil
}
