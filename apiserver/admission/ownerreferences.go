package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// OwnerReferencesPermissionEnforcement lets only those change an object's owners
// who could delete the object, and only those block an owner's deletion who may
// set that owner's finalizers. It is off unless asked for.
type OwnerReferencesPermissionEnforcement struct{ lister Lister }

// Name implements Plugin.
func (*OwnerReferencesPermissionEnforcement) Name() string {
	return "OwnerReferencesPermissionEnforcement"
}

// Validate compares the references with what they were.
func (p *OwnerReferencesPermissionEnforcement) Validate(_ context.Context, a *Attributes) error {
	if a.Subresource != "" || a.Verb != Create && a.Verb != Update {
		return nil
	}
	owners := ownersOf(a.Object)
	before := ownersOf(a.OldObject)
	if a.OldObject != nil {
		if !sameOwners(before, owners) && !may(p.lister, a.User, "delete", a.GVR.GroupResource(), "", a.Namespace, a.Name) {
			return forbidden(a, errors.New("cannot set an ownerRef on a resource you can't delete"))
		}
	}
	for _, ref := range owners {
		if !blocks(ref) || slices.ContainsFunc(before, func(b metav1.OwnerReference) bool { return b.UID == ref.UID && blocks(b) }) {
			continue
		}
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err != nil {
			return forbidden(a, fmt.Errorf("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion %s Kind %s", ref.APIVersion, ref.Kind))
		}
		plural, _ := meta.UnsafeGuessKindToResource(gv.WithKind(ref.Kind))
		if !may(p.lister, a.User, "update", plural.GroupResource(), "finalizers", a.Namespace, ref.Name) {
			return forbidden(a, errors.New("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"))
		}
	}
	return nil
}

// ownersOf are none for what has no metadata.
func ownersOf(obj runtime.Object) []metav1.OwnerReference {
	if obj == nil {
		return nil
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return m.GetOwnerReferences()
}

func blocks(ref metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

func sameOwners(a, b []metav1.OwnerReference) bool {
	all := func(list []metav1.OwnerReference) []string {
		out := make([]string, len(list))
		for i, r := range list {
			out[i] = string(r.UID)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return slices.Equal(all(a), all(b))
}
