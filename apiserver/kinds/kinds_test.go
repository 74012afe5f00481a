package kinds

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The table as a whole: what every row must hold.
func TestBuiltinRows(t *testing.T) {
	scheme := Scheme()
	seen := map[schema.GroupVersionResource]bool{}
	last := map[schema.GroupVersion]string{}
	for _, k := range Builtin() {
		gvk := k.GroupVersionKind()
		gvr := gvk.GroupVersion().WithResource(k.Resource)
		if seen[gvr] {
			t.Errorf("%v stands twice in the table", gvr)
		}
		seen[gvr] = true
		if last[gvk.GroupVersion()] >= k.Resource {
			t.Errorf("%v stands after %s", gvr, last[gvk.GroupVersion()])
		}
		last[gvk.GroupVersion()] = k.Resource
		if !scheme.Recognizes(gvk) {
			t.Errorf("%v has no Go type", gvk)
		}
		if list := gvk.GroupVersion().WithKind(k.Kind + "List"); k.Stored() && !scheme.Recognizes(list) {
			t.Errorf("%v has no Go type", list)
		}
		for _, sub := range k.Subresources {
			checkSubresource(t, &k, sub)
		}
	}
}

func checkSubresource(t *testing.T, k *Kind, sub Subresource) {
	if len(sub.Verbs) == 0 || !slices.IsSorted(sub.Verbs) {
		t.Errorf("%s/%s has verbs %v", k.Resource, sub.Name, sub.Verbs)
	}
	if sub.Kind.Kind != "" && !Scheme().Recognizes(sub.Kind) {
		t.Errorf("%s/%s speaks the unknown %v", k.Resource, sub.Name, sub.Kind)
	}
	if (sub.Name == "scale") && k.Scale == nil {
		t.Errorf("%s/scale has no hook", k.Resource)
	}
}

// A row that is stored in another's form names a row of the table.
func TestStorageRowsExist(t *testing.T) {
	rows := map[schema.GroupVersionResource]bool{}
	for _, k := range Builtin() {
		rows[k.GroupVersionKind().GroupVersion().WithResource(k.Resource)] = true
	}
	for _, k := range Builtin() {
		if c := k.Storage; c != nil && !rows[schema.GroupVersionResource{Group: c.Group, Version: c.Version, Resource: c.Resource}] {
			t.Errorf("%v is stored as a kind that is not in the table", k.GroupVersionKind())
		}
	}
}
