package customresource

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// fieldsOf are the fields of a path such as .spec.replicas.
func fieldsOf(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// scale reads and writes the fields that the definition names. A field of another
// type than expected was refused when the object was written.
func (v *Version) scale() *kinds.Scale {
	paths := v.Subresources.Scale
	return &kinds.Scale{
		Replicas: fieldsOf(paths.SpecReplicasPath),
		Get: func(obj runtime.Object) kinds.ScaleValues {
			content := obj.(*unstructured.Unstructured).Object
			var out kinds.ScaleValues
			replicas, found, _ := unstructured.NestedInt64(content, fieldsOf(paths.SpecReplicasPath)...)
			if !found {
				out.Missing = paths.SpecReplicasPath
			}
			ready, _, _ := unstructured.NestedInt64(content, fieldsOf(paths.StatusReplicasPath)...)
			out.Replicas, out.StatusReplicas = int32(replicas), int32(ready)
			if paths.LabelSelectorPath != nil && *paths.LabelSelectorPath != "" {
				out.Selector, _, _ = unstructured.NestedString(content, fieldsOf(*paths.LabelSelectorPath)...)
			}
			return out
		},
		Set: func(obj runtime.Object, replicas int32) {
			content := obj.(*unstructured.Unstructured).Object
			_ = unstructured.SetNestedField(content, int64(replicas), fieldsOf(paths.SpecReplicasPath)...)
		},
	}
}

// validateScale checks the fields that the scale subresource shows.
func (v *Version) validateScale(u *unstructured.Unstructured) field.ErrorList {
	if !v.hasScale() {
		return nil
	}
	return append(validateReplicas(u, v.Subresources.Scale.SpecReplicasPath), v.validateScaleStatus(u)...)
}

func (v *Version) validateScaleStatus(u *unstructured.Unstructured) field.ErrorList {
	if !v.hasScale() {
		return nil
	}
	errs := validateReplicas(u, v.Subresources.Scale.StatusReplicasPath)
	if path := v.Subresources.Scale.LabelSelectorPath; path != nil {
		if selector, _, err := unstructured.NestedString(u.Object, fieldsOf(*path)...); err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*path), selector, err.Error()))
		}
	}
	return errs
}

func validateReplicas(u *unstructured.Unstructured, path string) field.ErrorList {
	n, _, err := unstructured.NestedInt64(u.Object, fieldsOf(path)...)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(field.NewPath(path), n, err.Error())}
	case n < 0:
		return field.ErrorList{field.Invalid(field.NewPath(path), n, "should be a non-negative integer")}
	case n > math.MaxInt32:
		return field.ErrorList{field.Invalid(field.NewPath(path), n, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))}
	}
	return nil
}
