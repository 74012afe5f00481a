package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// NamespaceExists refuses writes in namespaces that are missing. NamespaceLifecycle
// does so too; this is for clusters that turn that off.
type NamespaceExists struct{ lister Lister }

// Name of the plugin.
func (*NamespaceExists) Name() string { return "NamespaceExists" }

// Validate refuses with the NotFound of the namespace.
func (p *NamespaceExists) Validate(ctx context.Context, a *Attributes) error {
	if a.Verb == Connect || a.Namespace == "" || a.GVR.GroupResource() == corev1.Resource("namespaces") {
		return nil
	}
	_, err := p.lister.Get(ctx, corev1.SchemeGroupVersion.WithResource("namespaces"), "", a.Namespace)
	return err
}
