package customresource

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// outline is the form of a definition that leaves the schemas alone.
type outline struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		apiextensionsv1.CustomResourceDefinitionSpec
		Versions []struct {
			apiextensionsv1.CustomResourceDefinitionVersion
			Schema skipped `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
	Status apiextensionsv1.CustomResourceDefinitionStatus `json:"status"`
}

// skipped is a value that is not looked at.
type skipped struct{}

func (*skipped) UnmarshalJSON([]byte) error { return nil }

// Read decodes a definition without its schemas.
func Read(doc []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	var in outline
	if err := json.Unmarshal(doc, &in); err != nil {
		return nil, fmt.Errorf("reading a definition: %w", err)
	}
	out := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: in.ObjectMeta, Spec: in.Spec.CustomResourceDefinitionSpec, Status: in.Status}
	for _, v := range in.Spec.Versions {
		out.Spec.Versions = append(out.Spec.Versions, v.CustomResourceDefinitionVersion)
	}
	return out, nil
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
