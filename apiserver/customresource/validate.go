package customresource

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// validate checks a new object, or a change when old is not nil.
func (v *Version) validate(obj, old runtime.Object) field.ErrorList {
	s, err := v.schemas[v.Name]()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	u := obj.(*unstructured.Unstructured)
	if errs := v.validateType(u); len(errs) > 0 {
		return errs
	}
	if old == nil {
		return v.validateNew(s, u)
	}
	return v.validateChange(s, u, old.(*unstructured.Unstructured))
}

func (v *Version) validateNew(s *compiled, u *unstructured.Unstructured) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaAccessor(u, v.namespaced(), apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, schemavalidation.ValidateCustomResource(nil, u.Object, s.validator)...)
	errs = append(errs, v.validateScale(u)...)
	errs = append(errs, objectmeta.Validate(background, nil, u.Object, s.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, u.Object)...)
	return append(errs, s.validateRules(errs, u.Object, nil)...)
}

// validateChange lets stand what was wrong before and was not touched.
func (v *Version) validateChange(s *compiled, u, old *unstructured.Unstructured) field.ErrorList {
	correlated := common.NewCorrelatedObject(u.Object, old.Object, &model.Structural{Structural: s.structural})
	errs := apivalidation.ValidateObjectMetaAccessorUpdate(u, old, field.NewPath("metadata"))
	errs = append(errs, schemavalidation.ValidateCustomResourceUpdate(nil, u.Object, old.Object, s.validator, schemavalidation.WithRatcheting(correlated))...)
	errs = append(errs, v.validateScale(u)...)
	errs = append(errs, objectmeta.Validate(background, nil, u.Object, s.structural, false)...)
	errs = append(errs, validateLists(s.structural, u, old)...)
	return append(errs, s.validateRules(errs, u.Object, old.Object, cel.WithRatcheting(correlated))...)
}

// validateStatus checks a write to the status, by the status' part of the schema.
func (v *Version) validateStatus(obj, before runtime.Object) field.ErrorList {
	s, err := v.schemas[v.Name]()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	u, old := obj.(*unstructured.Unstructured), before.(*unstructured.Unstructured)
	if errs := v.validateType(u); len(errs) > 0 {
		return errs
	}
	correlated := common.NewCorrelatedObject(u.Object, old.Object, &model.Structural{Structural: s.structural})
	errs := apivalidation.ValidateObjectMetaAccessorUpdate(u, old, field.NewPath("metadata"))
	if status, ok := u.Object["status"]; ok {
		ratcheting := schemavalidation.WithRatcheting(correlated.Key("status"))
		errs = append(errs, schemavalidation.ValidateCustomResourceUpdate(field.NewPath("status"), status, old.Object["status"], s.status, ratcheting)...)
	}
	errs = append(errs, v.validateScaleStatus(u)...)
	errs = append(errs, validateLists(s.structural, u, old)...)
	return append(errs, s.validateRules(errs, u.Object, old.Object, cel.WithRatcheting(correlated))...)
}

// background ends no validation: its cost is bounded by the budget of its rules.
var background = context.Background()

func (v *Version) namespaced() bool { return v.crd.Spec.Scope == "Namespaced" }

// validateType refuses an object that a conversion or a patch gave another kind.
func (v *Version) validateType(u *unstructured.Unstructured) field.ErrorList {
	var errs field.ErrorList
	if want := v.crd.Status.AcceptedNames.Kind; u.GetKind() != want {
		errs = append(errs, field.Invalid(field.NewPath("kind"), u.GetKind(), "must be "+want))
	}
	if want := v.groupVersion().String(); u.GetAPIVersion() != want {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), u.GetAPIVersion(), "must be "+want))
	}
	return errs
}

// validateLists checks sets and maps for doubles, unless there were some before.
func validateLists(s *structural.Structural, u, old *unstructured.Unstructured) field.ErrorList {
	errs := listtype.ValidateListSetsAndMaps(nil, s, u.Object)
	if len(errs) > 0 && len(listtype.ValidateListSetsAndMaps(nil, s, old.Object)) > 0 {
		return nil
	}
	return errs
}

// validateRules evaluates the CEL rules, which expect an object of the right form:
// with errors that say that it is not, they are left aside.
func (s *compiled) validateRules(errs field.ErrorList, obj, old map[string]any, opts ...cel.Option) field.ErrorList {
	rules := s.rules()
	if rules == nil {
		return nil
	}
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return field.ErrorList{field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
		}
	}
	var before any // a nil map would be an old object
	if old != nil {
		before = old
	}
	out, _ := rules.Validate(background, nil, s.structural, obj, before, celconfig.RuntimeCELCostBudget, opts...)
	return out
}

// warnings name finalizers that were added and that others may use too.
func warnings(obj, old runtime.Object) []string {
	added := sets.New(obj.(metav1.Object).GetFinalizers()...)
	if old != nil {
		added.Delete(old.(metav1.Object).GetFinalizers()...)
	}
	var out []string
	for _, name := range sets.List(added) {
		subject := fmt.Sprintf("%s: %q: ", field.NewPath("metadata", "finalizers"), name)
		for _, problem := range utilvalidation.IsQualifiedName(name) {
			out = append(out, subject+problem)
		}
		switch {
		case strings.Contains(name, "/") || standardFinalizers.Has(name):
		case strings.Contains(name, "."):
			out = append(out, subject+"prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers")
		default:
			out = append(out, subject+"prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers")
		}
	}
	return out
}

var standardFinalizers = sets.New(metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents, string(corev1.FinalizerKubernetes))
