package customresource

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// prepare counts changes in metadata.generation: those of all but metadata. The
// status is kept before, where it is a subresource.
func (v *Version) prepare(obj, old runtime.Object) {
	if old == nil {
		return
	}
	u, before := obj.(*unstructured.Unstructured), old.(*unstructured.Unstructured)
	if !sameContent(u.Object, before.Object) {
		u.SetGeneration(before.GetGeneration() + 1)
	}
}

// sameContent compares all but metadata.
func sameContent(a, b map[string]any) bool {
	without := func(in map[string]any) map[string]any {
		out := make(map[string]any, len(in))
		for key, value := range in {
			if key != "metadata" {
				out[key] = value
			}
		}
		return out
	}
	return equality.Semantic.DeepEqual(without(a), without(b))
}

// prepareStatus keeps all but the status: also metadata, which a write to the status
// of a built-in kind may change.
func prepareStatus(obj, old runtime.Object) {
	u := obj.(*unstructured.Unstructured)
	status, ok := u.Object["status"]
	managed := u.GetManagedFields()
	u.Object = old.(*unstructured.Unstructured).DeepCopy().Object
	u.SetManagedFields(managed)
	delete(u.Object, "status")
	if ok {
		u.Object["status"] = status
	}
}
