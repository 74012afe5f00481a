package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// addCustom adds the schema of a custom resource: what its definition says, with
// the fields that every object has. It returns the name: the group reversed, version, kind.
func (c *collection) addCustom(k *kinds.Kind) (string, error) {
	s, err := c.customSchema(k)
	if err != nil {
		return "", err
	}
	markKind(s, k.GroupVersionKind())
	markFields(s, k)
	name := customName(k)
	c.schemas[name] = s
	return name, nil
}

// Models are the schema of a custom resource and all that it refers to, by name, in
// version 3: what server-side apply learns the fields from.
func Models(k *kinds.Kind) (map[string]*spec.Schema, error) {
	c := &collection{prefix: refsV3, version: 3, schemas: maps.Clone(metaModels())}
	_, err := c.addCustom(k)
	return c.schemas, err
}

// metaModels are the schemas that each custom resource refers to.
var metaModels = sync.OnceValue(func() map[string]*spec.Schema {
	c := (&models{}).collect(refsV3, 3)
	c.addGenerated(metav1.ObjectMeta{}.OpenAPIModelName())
	return c.schemas
})

func (c *collection) customSchema(k *kinds.Kind) (*spec.Schema, error) {
	var s *spec.Schema
	if k.Custom != nil {
		var err error
		if s, err = k.Custom.OpenAPI(c.version); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", k.GroupVersionKind(), err)
		}
	}
	if s == nil { // without properties no client refuses a field
		return (&spec.Schema{}).Typed("object", ""), nil
	}
	c.embedded(s)
	c.setMeta(s, typeDoc["apiVersion"], typeDoc["kind"])
	return s, nil
}

var (
	typeDoc   = metav1.TypeMeta{}.SwaggerDoc()
	objectDoc = metav1beta1.PartialObjectMetadata{}.SwaggerDoc()
	listDoc   = metav1beta1.PartialObjectMetadataList{}.SwaggerDoc()
)

// setMeta gives a schema the fields that every object has.
func (c *collection) setMeta(s *spec.Schema, apiVersion, kind string) {
	meta := metav1.ObjectMeta{}.OpenAPIModelName()
	c.addGenerated(meta)
	s.SetProperty("apiVersion", *spec.StringProperty().WithDescription(apiVersion))
	s.SetProperty("kind", *spec.StringProperty().WithDescription(kind))
	s.SetProperty("metadata", *spec.RefSchema(c.prefix + meta).WithDescription(objectDoc["metadata"]))
}

// embedded gives the objects inside an object these fields too. Version 2 leaves them
// out where unknown fields are kept, which kubectl would refuse.
func (c *collection) embedded(s *spec.Schema) {
	for key, p := range s.Properties {
		c.embedded(&p)
		s.Properties[key] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		c.embedded(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		c.embedded(s.AdditionalProperties.Schema)
	}
	is := func(extension string) bool { set, _ := s.Extensions.GetBool(extension); return set }
	if !is("x-kubernetes-embedded-resource") || c.version == 2 && is("x-kubernetes-preserve-unknown-fields") {
		return
	}
	c.setMeta(s,
		"apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
		"kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
	)
	for _, key := range []string{"kind", "apiVersion"} {
		if !slices.Contains(s.Required, key) {
			s.Required = append(s.Required, key)
		}
	}
}

// markFields notes by which fields objects can be selected.
func markFields(s *spec.Schema, k *kinds.Kind) {
	var marks []any
	for _, f := range k.Fields {
		marks = append(marks, map[string]any{"fieldPath": f.Name})
	}
	if marks != nil {
		s.AddExtension("x-kubernetes-selectable-fields", marks)
	}
}

func customName(k *kinds.Kind) string {
	parts := strings.Split(k.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, k.Version, k.Kind), ".")
}

// addCustomList adds the list of a custom resource.
func (c *collection) addCustomList(k *kinds.Kind, item string) string {
	meta := metav1.ListMeta{}.OpenAPIModelName()
	c.addGenerated(meta)
	s := (&spec.Schema{}).Typed("object", "").WithDescription(k.ListKindName() + " is a list of " + k.Kind).WithRequired("items")
	s.SetProperty("apiVersion", *spec.StringProperty().WithDescription(typeDoc["apiVersion"]))
	s.SetProperty("kind", *spec.StringProperty().WithDescription(typeDoc["kind"]))
	s.SetProperty("metadata", *spec.RefSchema(c.prefix + meta).WithDescription(listDoc["metadata"]))
	items := spec.ArrayProperty(spec.RefSchema(c.prefix + item))
	s.SetProperty("items", *items.WithDescription("List of " + k.Resource + ". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"))
	gvk := k.GroupVersionKind()
	gvk.Kind = k.ListKindName()
	markKind(s, gvk)
	markFields(s, k)
	name := item + "List"
	c.schemas[name] = s
	return name
}
