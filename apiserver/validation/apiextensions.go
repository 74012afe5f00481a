package validation

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// CustomResourceDefinition checks a definition with the rules of its library: the
// schemas are structural, their defaults fit, their rules compile and are cheap.
func CustomResourceDefinition(crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	obj, err := internalDefinition(crd)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	ctx := context.Background() // ends the evaluation of defaults, which is bounded by its cost
	if old == nil {
		return apiextensionsvalidation.ValidateCustomResourceDefinition(ctx, obj)
	}
	oldObj, err := internalDefinition(old)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return apiextensionsvalidation.ValidateCustomResourceDefinitionUpdate(ctx, obj, oldObj)
}

// CustomResourceDefinitionStatus checks names and conditions, and leaves the schemas alone.
func CustomResourceDefinitionStatus(crd, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	withoutSpec := func(in *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
		return internalDefinition(&apiextensionsv1.CustomResourceDefinition{ObjectMeta: in.ObjectMeta, Status: in.Status})
	}
	obj, err := withoutSpec(crd)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	oldObj, err := withoutSpec(old)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return apiextensionsvalidation.ValidateUpdateCustomResourceDefinitionStatus(context.Background(), obj, oldObj)
}

// internalDefinition is the form that the library works on. What all versions say
// alike stands at the top there, and errors name that place.
func internalDefinition(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	out := &apiextensions.CustomResourceDefinition{}
	return out, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, out, nil)
}

// CustomResourceDefinitionWarnings names the formats that nobody checks, and sets
// of what can't be compared, unless they were there before.
func CustomResourceDefinitionWarnings(crd, old *apiextensionsv1.CustomResourceDefinition) []string {
	formats, lists := definitionWarnings(crd)
	oldFormats, oldLists := definitionWarnings(old)
	formats = slices.DeleteFunc(formats, func(text string) bool { return slices.Contains(oldFormats, text) })
	return append(formats, sets.List(sets.New(lists...).Delete(oldLists...))...)
}

func definitionWarnings(crd *apiextensionsv1.CustomResourceDefinition) (formats, lists []string) {
	if crd == nil {
		return nil, nil
	}
	obj, err := internalDefinition(crd)
	if err != nil {
		return nil, nil
	}
	release := environment.DefaultCompatibilityVersion()
	look := func(v *apiextensions.CustomResourceValidation) {
		if v == nil || v.OpenAPIV3Schema == nil {
			return
		}
		apiextensionsvalidation.SchemaHas(v.OpenAPIV3Schema, func(s *apiextensions.JSONSchemaProps) bool {
			formats = append(formats, unknownFormats(s, release)...)
			if s.XListType != nil && *s.XListType == "set" && s.Items != nil && s.Items.Schema != nil {
				if t := s.Items.Schema.Type; t == "object" || t == "array" {
					lists = append(lists, fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", t))
				}
			}
			return false
		})
	}
	look(obj.Spec.Validation)
	for _, v := range obj.Spec.Versions {
		look(v.Schema)
	}
	return formats, lists
}

func unknownFormats(s *apiextensions.JSONSchemaProps, release *version.Version) []string {
	if s.Format == "" {
		return nil
	}
	asked := &spec.Schema{SchemaProps: spec.SchemaProps{Format: s.Format, Type: spec.StringOrArray{s.Type}}}
	var out []string
	for _, format := range schemavalidation.GetUnrecognizedFormats(asked, release) {
		out = append(out, fmt.Sprintf("unrecognized format %q", format))
	}
	return out
}
