package strategy

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CustomResourceDefinition notes which version objects are stored in from now on.
func CustomResourceDefinition(crd, _ *apiextensionsv1.CustomResourceDefinition) {
	at := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if at < 0 {
		return
	}
	name, stored := crd.Spec.Versions[at].Name, crd.Status.StoredVersions
	if !slices.Contains(stored, name) {
		crd.Status.StoredVersions = append(slices.Clone(stored), name)
	}
}

// TerminateCustomResourceDefinition marks a definition as deleted. It stays until
// its objects are gone.
func TerminateCustomResourceDefinition(crd *apiextensionsv1.CustomResourceDefinition, now metav1.Time) {
	crd.DeletionTimestamp = &now
	if !slices.Contains(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		crd.Finalizers = append(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	SetDefinitionCondition(crd, now, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, Reason: "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
}

// SetDefinitionCondition adds a condition or changes the one of its type. The time
// of transition is that of the last change of its status.
func SetDefinitionCondition(crd *apiextensionsv1.CustomResourceDefinition, now metav1.Time, c apiextensionsv1.CustomResourceDefinitionCondition) {
	c.LastTransitionTime = now
	for i := range crd.Status.Conditions {
		old := &crd.Status.Conditions[i]
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status && !old.LastTransitionTime.IsZero() {
			c.LastTransitionTime = old.LastTransitionTime
		}
		c.ObservedGeneration = old.ObservedGeneration
		*old = c
		return
	}
	crd.Status.Conditions = append(crd.Status.Conditions, c)
}
