package customresource

import (
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// coercion says how an object is brought into the form of its schema.
type coercion struct {
	stored bool // metadata that does not decode is dropped, a missing generation is 1
	report bool // the fields that are unknown are named
}

// coerce does to an object what decoding into a struct does to built-in kinds:
// fields that the schema does not know are pruned, as are nulls where there may be
// none, and metadata is what ObjectMeta has fields for. It returns the unknown fields.
func (c coercion) coerce(u *unstructured.Unstructured, s *structural.Structural) ([]string, error) {
	for _, name := range []string{"kind", "apiVersion"} {
		if _, _, err := unstructured.NestedString(u.Object, name); err != nil {
			return nil, err
		}
	}
	kind, apiVersion := u.Object["kind"], u.Object["apiVersion"]
	meta, hasMeta, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{
		DropMalformedFields: c.stored, ReturnUnknownFieldPaths: c.report,
	})
	if err != nil {
		return nil, err
	}
	opts := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: c.report}
	unknown = append(unknown, pruning.PruneWithOptions(u.Object, s, true, opts)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, s)
	embedded, paths := objectmeta.CoerceWithOptions(nil, u.Object, s, false, objectmeta.CoerceOptions{
		DropInvalidFields: c.stored, ReturnUnknownFieldPaths: c.report,
	})
	if embedded != nil {
		return nil, embedded
	}
	u.Object["kind"], u.Object["apiVersion"] = kind, apiVersion
	if hasMeta {
		if c.stored && meta.Generation == 0 {
			meta.Generation = 1
		}
		err = objectmeta.SetObjectMeta(u.Object, meta)
	}
	return append(unknown, paths...), err
}
