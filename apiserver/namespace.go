package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// holdsNamespace is true for a namespace whose spec.finalizers keep it.
func holdsNamespace(obj runtime.Object) bool {
	ns, ok := obj.(*corev1.Namespace)
	return ok && len(ns.Spec.Finalizers) > 0
}

// terminateNamespace turns a namespace to be deleted into one that takes
// nothing new. It is false for other kinds.
func terminateNamespace(obj runtime.Object) bool {
	ns, ok := obj.(*corev1.Namespace)
	if ok {
		ns.Status.Phase = corev1.NamespaceTerminating
	}
	return ok
}
