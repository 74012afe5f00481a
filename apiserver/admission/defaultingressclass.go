package admission

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ingressClassAnnotation named the class before the field did.
const ingressClassAnnotation = "kubernetes.io/ingress.class"

// DefaultIngressClass gives Ingresses that name no class the default one.
type DefaultIngressClass struct{ lister Lister }

// Name of the plugin.
func (*DefaultIngressClass) Name() string { return "DefaultIngressClass" }

// Admit fills the class of a new Ingress.
func (p *DefaultIngressClass) Admit(ctx context.Context, a *Attributes) error {
	if a.Verb != Create || !a.is(group("networking.k8s.io", "ingresses")) {
		return nil
	}
	ingress := a.Object.(*networkingv1.Ingress)
	if _, ok := ingress.Annotations[ingressClassAnnotation]; ok || ingress.Spec.IngressClassName != nil {
		return nil
	}
	objs, err := p.lister.List(ctx, networkingv1.SchemeGroupVersion.WithResource("ingressclasses"), "")
	if err != nil {
		return forbidden(a, err)
	}
	if class := newestMarked(objs, networkingv1.AnnotationIsDefaultIngressClass); class != "" {
		ingress.Spec.IngressClassName = &class
	}
	return nil
}

// newestMarked is the name of the object that an annotation marks as the
// default. Of several the newest wins, then the first by name.
func newestMarked(objs []runtime.Object, annotations ...string) string {
	var newest metav1.Object
	for _, obj := range objs {
		m, err := meta.Accessor(obj)
		if err == nil && isMarked(m, annotations) && (newest == nil || isNewer(m, newest)) {
			newest = m
		}
	}
	if newest == nil {
		return ""
	}
	return newest.GetName()
}

func isMarked(m metav1.Object, annotations []string) bool {
	for _, annotation := range annotations {
		if m.GetAnnotations()[annotation] == "true" {
			return true
		}
	}
	return false
}

func isNewer(a, b metav1.Object) bool {
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if at.Unix() == bt.Unix() {
		return a.GetName() < b.GetName()
	}
	return at.Unix() > bt.Unix()
}
