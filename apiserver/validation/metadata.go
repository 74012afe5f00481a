package validation

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nameRule says what is wrong with a name; with prefix it is a generateName,
// which may end in a dash.
type nameRule = apivalidation.ValidateNameFunc

// The scope of a kind, as metadata rules take it.
const (
	namespaced    = true
	clusterScoped = false
)

// ObjectMeta holds the rules that every kind shares, whatever its own name rule
// says. It suits kinds without rules of their own, and custom resources.
func ObjectMeta(meta, old *metav1.ObjectMeta, isNamespaced bool) field.ErrorList {
	if old != nil {
		return apivalidation.ValidateObjectMetaUpdate(meta, old, field.NewPath("metadata"))
	}
	return apivalidation.ValidateObjectMeta(meta, isNamespaced, path.ValidatePathSegmentName, field.NewPath("metadata"))
}

// metaCreate holds the rules of metadata without looking at the old object. Most
// kinds apply them on update too.
func metaCreate(meta *metav1.ObjectMeta, isNamespaced bool, rule nameRule) field.ErrorList {
	p := field.NewPath("metadata")
	return concat(apivalidation.ValidateObjectMeta(meta, isNamespaced, rule, p), finalizers(meta, p))
}

// metaUpdate holds the rules of a change of metadata.
func metaUpdate(meta, old *metav1.ObjectMeta) field.ErrorList {
	p := field.NewPath("metadata")
	return concat(apivalidation.ValidateObjectMetaUpdate(meta, old, p), finalizers(meta, p))
}

// metaBoth applies the rules of a change, when there is an old object, before
// those of a new object.
func metaBoth(meta, old *metav1.ObjectMeta, isNamespaced bool, rule nameRule) field.ErrorList {
	if old == nil {
		return metaCreate(meta, isNamespaced, rule)
	}
	return concat(metaUpdate(meta, old), metaCreate(meta, isNamespaced, rule))
}

// metaEither applies the rules of a change or those of a new object.
func metaEither(meta, old *metav1.ObjectMeta, isNamespaced bool, rule nameRule) field.ErrorList {
	if old == nil {
		return metaCreate(meta, isNamespaced, rule)
	}
	return metaUpdate(meta, old)
}

// metaOf is the metadata of an old object that may be absent.
func metaOf[T any, P interface {
	*T
	GetObjectMeta() metav1.Object
}](old P) *metav1.ObjectMeta {
	if old == nil {
		return nil
	}
	return old.GetObjectMeta().(*metav1.ObjectMeta)
}

func finalizers(meta *metav1.ObjectMeta, p *field.Path) field.ErrorList {
	return each(meta.Finalizers, p.Child("finalizers"), func(name *string, p *field.Path) field.ErrorList {
		return kubeFinalizer(*name, p)
	})
}

// kubeFinalizer refuses a finalizer without domain, but for those that
// Kubernetes itself sets.
func kubeFinalizer(name string, p *field.Path) field.ErrorList {
	if prefixed(name) {
		return nil
	}
	switch name {
	case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return nil
	}
	return field.ErrorList{field.Invalid(p, name, "name is neither a standard finalizer name nor is it fully qualified")}
}

// labelSelector checks a selector that is there.
func labelSelector(s *metav1.LabelSelector, p *field.Path) field.ErrorList {
	return metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, p)
}

func emptySelector(s *metav1.LabelSelector) bool {
	return len(s.MatchLabels)+len(s.MatchExpressions) == 0
}
