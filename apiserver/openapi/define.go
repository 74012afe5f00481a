package openapi

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Extensions of Kubernetes.
const (
	extensionKind          = "x-kubernetes-group-version-kind"
	extensionAction        = "x-kubernetes-action"
	extensionListType      = "x-kubernetes-list-type"
	extensionListMapKeys   = "x-kubernetes-list-map-keys"
	extensionMapType       = "x-kubernetes-map-type"
	extensionPatchStrategy = "x-kubernetes-patch-strategy"
	extensionPatchMergeKey = "x-kubernetes-patch-merge-key"
)

// define makes the schema of a struct.
func (c *collection) define(name string, t reflect.Type) {
	s := &spec.Schema{}
	c.schemas[name] = s // before its fields: a type may lead back to itself
	s.Description = docOf(t)[""]
	if custom, ok := reflect.Zero(t).Interface().(typer); ok {
		c.encoded(s, custom)
		return
	}
	s.Type = spec.StringOrArray{"object"}
	if obj, ok := reflect.New(t).Interface().(runtime.Object); ok {
		c.markKinds(s, obj)
	}
	c.merge().describe(s, name)
	c.fields(s, name, t)
}

// encoded describes a type that writes itself in its own way.
func (c *collection) encoded(s *spec.Schema, t typer) {
	s.Format = t.OpenAPISchemaFormat()
	if many, ok := t.(oneOfTyper); ok && c.version == 3 {
		for _, one := range many.OpenAPIV3OneOfTypes() {
			s.OneOf = append(s.OneOf, spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{one}}})
		}
		return
	}
	s.Type = t.OpenAPISchemaType()
}

// fields adds the fields of a struct, those of inlined structs among them, to the
// schema of that name.
func (c *collection) fields(s *spec.Schema, name string, t reflect.Type) {
	doc := docOf(t)
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "-" || !f.IsExported() {
			continue
		}
		if key == "" {
			if f.Anonymous {
				c.fields(s, name, dereferenced(f.Type))
			}
			continue
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		property := c.property(f.Type, optional)
		property.Description = doc[key]
		for tag, extension := range map[string]string{"patchStrategy": extensionPatchStrategy, "patchMergeKey": extensionPatchMergeKey} {
			if v := f.Tag.Get(tag); v != "" {
				property.AddExtension(extension, v)
			}
		}
		c.merge().describeField(&property, name, key)
		s.SetProperty(key, property)
		if !optional {
			s.AddRequired(key)
		}
	}
}

func dereferenced(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// property is the schema of a value, with the default that the absence of a value
// that is no pointer amounts to.
func (c *collection) property(t reflect.Type, optional bool) spec.Schema {
	if t.Kind() == reflect.Pointer {
		return c.value(t.Elem())
	}
	s := c.value(t)
	_, encoded := reflect.Zero(t).Interface().(typer)
	switch t.Kind() {
	case reflect.Struct:
		if !encoded {
			s.Default = map[string]any{}
		}
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		if !optional {
			s.Default = reflect.Zero(t).Interface()
		}
	}
	return s
}

// value is the schema of a value of a type.
func (c *collection) value(t reflect.Type) spec.Schema {
	var s spec.Schema
	if name := c.add(t); name != "" {
		s.Ref = c.ref(name)
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return c.value(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return *spec.StrFmtProperty("byte")
		}
		items := c.property(t.Elem(), false)
		s.Typed("array", "")
		s.Items = &spec.SchemaOrArray{Schema: &items}
	case reflect.Map:
		items := c.property(t.Elem(), false)
		s.Typed("object", "")
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: &items}
	case reflect.String:
		s.Typed("string", "")
	case reflect.Bool:
		s.Typed("boolean", "")
	case reflect.Int, reflect.Int32:
		s.Typed("integer", "int32")
	case reflect.Int64:
		s.Typed("integer", "int64")
	case reflect.Float64:
		s.Typed("number", "double")
	default:
		s.Typed("object", "")
	}
	return s
}
