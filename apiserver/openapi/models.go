package openapi

import (
	"reflect"
	"sync"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistration "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// models makes schemas of Go types.
type models struct {
	scheme *runtime.Scheme
	merge  func() *mergeRules
}

func newModels(scheme *runtime.Scheme) *models {
	return &models{scheme: scheme, merge: sync.OnceValue(newMergeRules)}
}

// collection gathers the schemas of one document: those asked for and all that they refer to.
type collection struct {
	*models
	prefix    string // of references
	version   int    // of OpenAPI, 2 or 3
	generated map[string]common.OpenAPIDefinition
	schemas   map[string]*spec.Schema
}

func (m *models) collect(prefix string, version int) *collection {
	c := &collection{
		models: m, prefix: prefix, version: version,
		generated: map[string]common.OpenAPIDefinition{}, schemas: map[string]*spec.Schema{},
	}
	for _, all := range []common.GetOpenAPIDefinitions{apiregistration.GetOpenAPIDefinitions, apiextensions.GetOpenAPIDefinitions} {
		for name, definition := range all(c.ref) {
			c.generated[name] = definition
		}
	}
	return c
}

func (c *collection) ref(name string) spec.Ref { return spec.MustCreateRef(c.prefix + name) }

// addKind adds a kind that the scheme knows. It returns the schema's name, ""
// for a kind that has no Go type.
func (c *collection) addKind(gvk schema.GroupVersionKind) string {
	obj, err := c.scheme.New(gvk)
	if err != nil {
		return ""
	}
	name := c.add(reflect.TypeOf(obj).Elem())
	if s := c.schemas[name]; s != nil {
		c.markKinds(s, obj)
	}
	return name
}

// markKinds notes which kinds a schema is that of.
func (m *models) markKinds(s *spec.Schema, obj runtime.Object) {
	gvks, _, err := m.scheme.ObjectKinds(obj)
	if err != nil {
		return // a part of objects, not an object
	}
	for _, gvk := range gvks {
		markKind(s, gvk)
	}
}

// markKind notes that a schema is that of a kind, once.
func markKind(s *spec.Schema, gvk schema.GroupVersionKind) {
	mark := map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}
	marks, _ := s.Extensions[extensionKind].([]any)
	for _, m := range marks {
		if reflect.DeepEqual(m, mark) {
			return
		}
	}
	s.AddExtension(extensionKind, append(marks, mark))
}

// add adds a type that has a name in OpenAPI, and returns it.
func (c *collection) add(t reflect.Type) string {
	name := modelName(t)
	if name == "" || c.schemas[name] != nil {
		return name
	}
	if !c.addGenerated(name) {
		c.define(name, t)
	}
	return name
}

// addGenerated adds a type that comes with a generated definition.
func (c *collection) addGenerated(name string) bool {
	if c.schemas[name] != nil {
		return true
	}
	definition, ok := c.generated[name]
	if !ok {
		return false
	}
	s := definition.Schema
	if v2, ok := s.Extensions[common.ExtensionV2Schema]; ok {
		if c.version == 2 {
			s = v2.(spec.Schema)
		}
		delete(s.Extensions, common.ExtensionV2Schema)
	}
	c.schemas[name] = &s
	for _, other := range definition.Dependencies {
		c.addGenerated(other)
	}
	return true
}

// The methods that types of the API have for OpenAPI's sake.
type (
	namer      interface{ OpenAPIModelName() string }
	documenter interface{ SwaggerDoc() map[string]string }
	typer      interface {
		OpenAPISchemaType() []string
		OpenAPISchemaFormat() string
	}
	oneOfTyper interface{ OpenAPIV3OneOfTypes() []string }
)

func modelName(t reflect.Type) string {
	if n, ok := reflect.Zero(t).Interface().(namer); ok && t.Kind() == reflect.Struct {
		return n.OpenAPIModelName()
	}
	return ""
}

func docOf(t reflect.Type) map[string]string {
	if d, ok := reflect.Zero(t).Interface().(documenter); ok {
		return d.SwaggerDoc()
	}
	return nil
}
