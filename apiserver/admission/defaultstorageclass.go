package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

const (
	defaultStorageAnnotation     = "storageclass.kubernetes.io/is-default-class"
	defaultStorageAnnotationBeta = "storageclass.beta.kubernetes.io/is-default-class"
)

// DefaultStorageClass gives claims that name no class the default one.
type DefaultStorageClass struct{ lister Lister }

// Name of the plugin.
func (*DefaultStorageClass) Name() string { return "DefaultStorageClass" }

// Admit fills the class of a new claim. An empty name is a name: it asks for no class.
func (p *DefaultStorageClass) Admit(ctx context.Context, a *Attributes) error {
	if a.Verb != Create || !a.is(group("", "persistentvolumeclaims")) {
		return nil
	}
	claim := a.Object.(*corev1.PersistentVolumeClaim)
	if _, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok || claim.Spec.StorageClassName != nil {
		return nil
	}
	objs, err := p.lister.List(ctx, storagev1.SchemeGroupVersion.WithResource("storageclasses"), "")
	if err != nil {
		return forbidden(a, err)
	}
	if class := newestMarked(objs, defaultStorageAnnotation, defaultStorageAnnotationBeta); class != "" {
		claim.Spec.StorageClassName = &class
	}
	return nil
}
