package admission

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NamespaceLifecycle keeps objects out of namespaces that are missing or going,
// and keeps the namespaces that the cluster itself lives in.
type NamespaceLifecycle struct{ lister Lister }

// Name of the plugin.
func (*NamespaceLifecycle) Name() string { return "NamespaceLifecycle" }

// Admit refuses before other plugins look into the namespace.
func (p *NamespaceLifecycle) Admit(ctx context.Context, a *Attributes) error {
	if a.Verb != Create && a.Verb != Update {
		return nil
	}
	isReview := a.GVR.GroupResource() == group("authorization.k8s.io", "localsubjectaccessreviews")
	if a.Namespace == "" || a.GVR.GroupResource() == group("", "namespaces") || isReview {
		return nil
	}
	obj, err := p.lister.Get(ctx, corev1.SchemeGroupVersion.WithResource("namespaces"), "", a.Namespace)
	if apierrors.IsNotFound(err) {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, a.Namespace)
	}
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if a.Verb == Create && obj.(*corev1.Namespace).Status.Phase == corev1.NamespaceTerminating {
		return terminating(a)
	}
	return nil
}

// Validate refuses the deletion of the immortal namespaces.
func (p *NamespaceLifecycle) Validate(_ context.Context, a *Attributes) error {
	if a.Verb != Delete || !a.is(group("", "namespaces")) {
		return nil
	}
	switch a.Name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return forbidden(a, errors.New("this namespace may not be deleted"))
	}
	return nil
}

// terminating names its cause so that controllers can tell this refusal, which
// needs no retry, from others.
func terminating(a *Attributes) error {
	err := apierrors.NewForbidden(a.GVR.GroupResource(), a.subject(),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", a.Namespace),
		Field:   "metadata.namespace",
	})
	return err
}
