package apiserver

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// rules are those of the kind or of the subresource that the request writes.
func (q *request) rules() kinds.Rules {
	if q.sub.Name == "" {
		return q.res.Rules
	}
	return q.sub.Rules
}

// validate checks a new object, or a change when old is not nil. What has no
// rules of its own has those of metadata.
func validate(q *request, obj, old runtime.Object) field.ErrorList {
	if rules := q.rules(); rules.Validate != nil {
		return rules.Validate(obj, old)
	}
	path := field.NewPath("metadata")
	if old != nil {
		return apivalidation.ValidateObjectMetaAccessorUpdate(accessorOf(obj), accessorOf(old), path)
	}
	return apivalidation.ValidateObjectMetaAccessor(accessorOf(obj), q.res.Namespaced, apivalidation.NameIsDNSSubdomain, path)
}
