package admission

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
)

// PersistentVolumeClaimResize lets claims grow only where their class can.
type PersistentVolumeClaimResize struct{ lister Lister }

// Name of the plugin.
func (*PersistentVolumeClaimResize) Name() string { return "PersistentVolumeClaimResize" }

// Validate refuses growth of unbound claims, and of classes that do not allow it.
func (p *PersistentVolumeClaimResize) Validate(ctx context.Context, a *Attributes) error {
	if a.Verb != Update || !a.is(group("", "persistentvolumeclaims")) {
		return nil
	}
	claim, old := a.Object.(*corev1.PersistentVolumeClaim), a.OldObject.(*corev1.PersistentVolumeClaim)
	size, oldSize := claim.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	if size.Cmp(oldSize) <= 0 {
		return nil
	}
	if old.Status.Phase != corev1.ClaimBound {
		return forbidden(a, errors.New("only bound persistent volume claims can be expanded"))
	}
	if !p.canExpand(ctx, claim, old) {
		return forbidden(a, errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"))
	}
	return nil
}

func (p *PersistentVolumeClaimResize) canExpand(ctx context.Context, claim, old *corev1.PersistentVolumeClaim) bool {
	name := storageClass(claim)
	if name == "" || name != storageClass(old) {
		return false
	}
	obj, err := p.lister.Get(ctx, storagev1.SchemeGroupVersion.WithResource("storageclasses"), "", name)
	if err != nil {
		return false
	}
	return ptr.Deref(obj.(*storagev1.StorageClass).AllowVolumeExpansion, false)
}

// storageClass of a claim; the annotation is older than the field, and wins.
func storageClass(claim *corev1.PersistentVolumeClaim) string {
	if class, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return ptr.Deref(claim.Spec.StorageClassName, "")
}
