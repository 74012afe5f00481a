package apiserver

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateObject checks a new object, or a change when old is not nil. A kind
// without rules of its own has those of metadata.
func validateObject(res *resource, obj, old runtime.Object) field.ErrorList {
	if res.Validate != nil {
		return res.Validate(obj, old)
	}
	path := field.NewPath("metadata")
	errs := apivalidation.ValidateObjectMetaAccessor(accessorOf(obj), res.Namespaced, apivalidation.NameIsDNSSubdomain, path)
	if old != nil {
		errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(accessorOf(obj), accessorOf(old), path)...)
	}
	return errs
}

// validateStatus checks a write to /status.
func validateStatus(res *resource, obj, old runtime.Object) field.ErrorList {
	if res.ValidateStatus != nil {
		return res.ValidateStatus(obj, old)
	}
	return apivalidation.ValidateObjectMetaAccessorUpdate(accessorOf(obj), accessorOf(old), field.NewPath("metadata"))
}
