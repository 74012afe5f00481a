package admission

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// StorageObjectInUseProtection puts a finalizer on storage objects, so that
// they go only once nothing uses them.
type StorageObjectInUseProtection struct{}

// Name of the plugin.
func (*StorageObjectInUseProtection) Name() string { return "StorageObjectInUseProtection" }

// Admit adds the finalizer to a new object.
func (*StorageObjectInUseProtection) Admit(_ context.Context, a *Attributes) error {
	finalizer := protection(a.GVR.GroupResource())
	if a.Verb != Create || a.Subresource != "" || finalizer == "" {
		return nil
	}
	m, err := meta.Accessor(a.Object)
	if err != nil {
		return err
	}
	if !slices.Contains(m.GetFinalizers(), finalizer) {
		m.SetFinalizers(append(m.GetFinalizers(), finalizer))
	}
	return nil
}

func protection(resource schema.GroupResource) string {
	switch resource {
	case group("", "persistentvolumes"):
		return "kubernetes.io/pv-protection"
	case group("", "persistentvolumeclaims"):
		return "kubernetes.io/pvc-protection"
	case group("storage.k8s.io", "volumeattributesclasses"):
		return "kubernetes.io/vac-protection"
	}
	return ""
}
