package customresource

import (
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Taken are the names that the definitions of a group hold.
type Taken struct{ Resources, Kinds sets.Set[string] }

// TakenBy collects the names that definitions hold.
func TakenBy(crds []*apiextensionsv1.CustomResourceDefinition) Taken {
	out := Taken{sets.Set[string]{}, sets.Set[string]{}}
	for _, crd := range crds {
		names := crd.Status.AcceptedNames
		out.Resources.Insert(names.Plural, names.Singular).Insert(names.ShortNames...)
		out.Kinds.Insert(names.Kind, names.ListKind)
	}
	return out
}

// accept gives a definition the names that it asks for and that are free, and says
// whether all are. A name that it holds already is free to it.
func accept(crd *apiextensionsv1.CustomResourceDefinition, taken Taken) (apiextensionsv1.CustomResourceDefinitionNames, apiextensionsv1.CustomResourceDefinitionCondition) {
	wanted, names := crd.Spec.Names, crd.Status.AcceptedNames
	c := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts", Message: "no conflicts found",
	}
	refuse := func(reason string, err error) {
		c.Status, c.Reason, c.Message = apiextensionsv1.ConditionFalse, reason, err.Error()
	}
	one := func(reason, name string, held *string, others sets.Set[string]) {
		if err := free(name, *held, others); err != nil {
			refuse(reason, err)
			return
		}
		*held = name
	}
	one("PluralConflict", wanted.Plural, &names.Plural, taken.Resources)
	one("SingularConflict", wanted.Singular, &names.Singular, taken.Resources)
	if err := freeShortNames(wanted.ShortNames, names.ShortNames, taken.Resources); err != nil {
		refuse("ShortNamesConflict", err)
	} else {
		names.ShortNames = wanted.ShortNames
	}
	one("KindConflict", wanted.Kind, &names.Kind, taken.Kinds)
	one("ListKindConflict", wanted.ListKind, &names.ListKind, taken.Kinds)
	names.Categories = wanted.Categories
	return names, c
}

func free(name, held string, taken sets.Set[string]) error {
	if name == held || !taken.Has(name) {
		return nil
	}
	return fmt.Errorf("%q is already in use", name)
}

func freeShortNames(wanted, held []string, taken sets.Set[string]) error {
	var errs []error
	for _, name := range wanted {
		if slices.Contains(held, name) {
			continue
		}
		errs = append(errs, free(name, "", taken))
	}
	if errors.Join(errs...) == nil {
		return nil
	}
	return utilerrors.NewAggregate(errs)
}
