package validation

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SubjectAccessReview holds the rules of authorization.k8s.io/v1 SubjectAccessReviews.
func SubjectAccessReview(r *authorizationv1.SubjectAccessReview) field.ErrorList {
	return append(subjectReview(&r.Spec), emptyMeta(&r.ObjectMeta, "must be empty")...)
}

// SelfSubjectAccessReview holds the rules of authorization.k8s.io/v1 SelfSubjectAccessReviews.
func SelfSubjectAccessReview(r *authorizationv1.SelfSubjectAccessReview) field.ErrorList {
	return append(attributes(r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes), emptyMeta(&r.ObjectMeta, "must be empty")...)
}

// LocalSubjectAccessReview holds the rules of authorization.k8s.io/v1
// LocalSubjectAccessReviews, which ask about their own namespace alone.
func LocalSubjectAccessReview(r *authorizationv1.LocalSubjectAccessReview) field.ErrorList {
	meta := r.ObjectMeta.DeepCopy()
	meta.Namespace = ""
	var errs field.ErrorList
	if !emptied(meta) {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), r.ObjectMeta, "must be empty except for namespace"))
	}
	p := field.NewPath("spec")
	if a := r.Spec.ResourceAttributes; a != nil {
		errs = append(errs, refuse(a.Namespace != r.Namespace, field.Invalid(p.Child("resourceAttributes", "namespace"), a.Namespace, "must match metadata.namespace"))...)
	}
	return concat(subjectReview(&r.Spec), errs, refuse(r.Spec.NonResourceAttributes != nil,
		field.Invalid(p.Child("nonResourceAttributes"), byFieldName(r.Spec.NonResourceAttributes), "disallowed on this kind of request")))
}

func subjectReview(s *authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := attributes(s.ResourceAttributes, s.NonResourceAttributes)
	return append(errs, refuse(s.User == "" && len(s.Groups) == 0,
		field.Invalid(field.NewPath("spec", "user"), s.User, "at least one of user or group must be specified"))...)
}

// attributes checks what is asked for: a resource or a path.
func attributes(r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) field.ErrorList {
	p := field.NewPath("spec")
	errs := refuse((r == nil) == (n == nil), field.Invalid(p, byFieldName(n), "exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	if r == nil {
		return errs
	}
	at := p.Child("resourceAttributes")
	if f := r.FieldSelector; f != nil {
		errs = append(errs, reviewSelector(f.RawSelector, len(f.Requirements), at.Child("fieldSelector"))...)
	}
	if l := r.LabelSelector; l != nil {
		errs = append(errs, reviewSelector(l.RawSelector, len(l.Requirements), at.Child("labelSelector"))...)
	}
	return errs
}

func reviewSelector(raw string, requirements int, p *field.Path) field.ErrorList {
	return concat(
		refuse(raw != "" && requirements > 0, field.Invalid(p.Child("rawSelector"), raw, "may not specified at the same time as requirements")),
		refuse(raw == "" && requirements == 0, field.Required(p.Child("requirements"), "when fieldSelector or labelSelector is specified, requirements or rawSelector is required")))
}

// emptyMeta refuses metadata on requests that are never stored.
func emptyMeta(meta *metav1.ObjectMeta, reason string) field.ErrorList {
	return refuse(!emptied(meta), field.Invalid(field.NewPath("metadata"), *meta, reason))
}

// emptied looks past the managed fields, which the server itself adds.
func emptied(meta *metav1.ObjectMeta) bool {
	rest := *meta
	rest.ManagedFields = nil
	return sameValue(rest, metav1.ObjectMeta{})
}

// TokenRequest holds the rules of a write to serviceaccounts/token.
func TokenRequest(r *authenticationv1.TokenRequest) field.ErrorList {
	if r.Spec.ExpirationSeconds == nil {
		return nil
	}
	return tokenSeconds(*r.Spec.ExpirationSeconds, field.NewPath("spec", "expirationSeconds"))
}

// DeleteOptions holds the rules of the options of a DELETE.
func DeleteOptions(o *metav1.DeleteOptions) field.ErrorList {
	return metav1validation.ValidateDeleteOptions(o)
}
