package customresource

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Read decodes a definition without its schemas, which are taken out before, since they
// are most of it.
func Read(doc []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	out := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(withoutSchemas(doc), out); err != nil {
		return nil, fmt.Errorf("reading a definition: %w", err)
	}
	return out, nil
}

// withoutSchemas is a definition but for spec.versions[*].schema.
func withoutSchemas(doc []byte) []byte {
	return without(gjson.ParseBytes(doc), "spec", func(spec gjson.Result) []byte {
		return without(spec, "versions", func(versions gjson.Result) []byte {
			out := []byte{'['}
			versions.ForEach(func(_, version gjson.Result) bool {
				out = separated(out)
				out = append(out, without(version, "schema", nil)...)
				return true
			})
			return append(out, ']')
		})
	})
}

// without is an object with another value under a key, or without the key.
func without(object gjson.Result, key string, value func(gjson.Result) []byte) []byte {
	out := []byte{'{'}
	object.ForEach(func(k, v gjson.Result) bool {
		text := []byte(v.Raw)
		if k.String() == key {
			if value == nil {
				return true
			}
			text = value(v)
		}
		out = append(append(separated(out), k.Raw...), ':')
		out = append(out, text...)
		return true
	})
	return append(out, '}')
}

// separated puts a comma behind what is there.
func separated(out []byte) []byte {
	if len(out) == 1 {
		return out
	}
	return append(out, ',')
}

// Is tells whether a condition is true.
func Is(crd *apiextensionsv1.CustomResourceDefinition, t apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	c := condition(crd, t)
	return c != nil && c.Status == apiextensionsv1.ConditionTrue
}

func condition(crd *apiextensionsv1.CustomResourceDefinition, t apiextensionsv1.CustomResourceDefinitionConditionType) *apiextensionsv1.CustomResourceDefinitionCondition {
	for i := range crd.Status.Conditions {
		if crd.Status.Conditions[i].Type == t {
			return &crd.Status.Conditions[i]
		}
	}
	return nil
}

// storageVersion is the version in which objects are stored.
func storageVersion(crd *apiextensionsv1.CustomResourceDefinition) string {
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}
