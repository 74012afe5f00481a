package kinds

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Custom brings the objects of a custom resource into the form of their schema, as
// decoding into a Go type does for others, and leads between versions. It belongs to
// one version of a definition; a row with another Custom takes its place when the
// definition changes.
type Custom interface {
	// Coerce drops from an object that a client sent what its schema does not know.
	// With report it returns the paths of what was dropped.
	Coerce(u *unstructured.Unstructured, report bool) (unknown []string, err error)
	// FromStored turns objects of any version into the row's, in place.
	FromStored(objs ...*unstructured.Unstructured) error
	// ToStored returns an object in the version that is stored; it may be the same object.
	ToStored(u *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Convertor leads between the versions of the definition, without defaults or pruning.
	Convertor() (runtime.ObjectConvertor, error)
	// OpenAPI is the schema to publish in version 2 or 3 of OpenAPI, for the caller to change.
	OpenAPI(version int) (*spec.Schema, error)
	// Fingerprint changes with whatever OpenAPI depends on.
	Fingerprint() string
}
