package customresource

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/tidwall/gjson"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// errSchema is what clients are told of a stored schema that can't be used. What
// was validated can be.
var errSchema = errors.New("the server could not properly serve the CR schema")

// compiled is the schema of one version, made ready for use.
type compiled struct {
	structural *structural.Structural
	validator  validation.SchemaValidator
	status     validation.SchemaValidator // of the status alone, nil without one
	// rules are the CEL rules, nil without any. They take the longest to compile.
	rules func() *cel.Validator
}

// compile makes the schema of the version at an index of the definition's list.
func compile(doc []byte, index int) (*compiled, error) {
	props, err := schemaProps(doc, index)
	if err != nil {
		return nil, err
	}
	s := &compiled{}
	if s.structural, err = structuralOf(props); err != nil {
		return nil, errSchema
	}
	if err := defaulting.PruneDefaults(s.structural); err != nil {
		return nil, errSchema
	}
	if s.validator, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, err
	}
	if status, ok := props.Properties["status"]; ok {
		if s.status, _, err = validation.NewSchemaValidator(&status); err != nil {
			return nil, err
		}
	}
	s.rules = sync.OnceValue(func() *cel.Validator { return cel.NewValidator(s.structural, true, celconfig.PerCallLimit) })
	return s, nil
}

// schemaProps reads a version's schema out of the encoded definition.
func schemaProps(doc []byte, index int) (*apiextensions.JSONSchemaProps, error) {
	text := gjson.GetBytes(doc, fmt.Sprintf("spec.versions.%d.schema.openAPIV3Schema", index))
	if !text.Exists() {
		return nil, errSchema
	}
	var in apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(text.Raw), &in); err != nil {
		return nil, fmt.Errorf("reading a schema: %w", err)
	}
	out := &apiextensions.JSONSchemaProps{}
	return out, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&in, out, nil)
}

// structuralOf is the schema's structure, which does not share memory with props.
func structuralOf(props *apiextensions.JSONSchemaProps) (*structural.Structural, error) {
	s, err := structural.NewStructural(props)
	if err != nil {
		return nil, err
	}
	return s.DeepCopy(), nil
}
