package customresource

import (
	openapiv2 "k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// OpenAPI implements kinds.Custom. Version 2 has no word for much of a schema, and
// kubectl refuses fields that a schema with properties does not name: where unknown
// fields are kept, version 2 says nothing.
func (v *Version) OpenAPI(version int) (*spec.Schema, error) {
	s, err := v.schemas[v.Name]()
	if err != nil {
		return nil, err
	}
	published := s.structural.Unfold()
	if version != 2 {
		return published.ToKubeOpenAPI(), nil
	}
	if published.XPreserveUnknownFields {
		return nil, nil
	}
	return openapiv2.ToStructuralOpenAPIV2(published).ToKubeOpenAPI(), nil
}

// Fingerprint implements kinds.Custom.
func (v *Version) Fingerprint() string { return v.fingerprint() }
