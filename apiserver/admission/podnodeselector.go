package admission

import (
	"context"
	"errors"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
)

// nodeSelectorAnnotation of a namespace holds for all of its pods.
const nodeSelectorAnnotation = "scheduler.alpha.kubernetes.io/node-selector"

// PodNodeSelector binds the pods of a namespace to the nodes that its annotation
// selects. Against Kubernetes the selectors of a configuration file are left out.
type PodNodeSelector struct{ lister Lister }

// Name of the plugin.
func (*PodNodeSelector) Name() string { return "PodNodeSelector" }

// Admit adds the namespace's selector to the pod's.
func (p *PodNodeSelector) Admit(ctx context.Context, a *Attributes) error {
	if a.Verb != Create || !a.is(group("", "pods")) {
		return nil
	}
	selector, err := p.selector(ctx, a)
	if err != nil {
		return err
	}
	pod := a.Object.(*corev1.Pod)
	if labels.Conflicts(selector, pod.Spec.NodeSelector) {
		return forbidden(a, errors.New("pod node label selector conflicts with its namespace node label selector"))
	}
	if len(selector) > 0 {
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		maps.Copy(pod.Spec.NodeSelector, selector)
	}
	return nil
}

// Validate refuses what plugins that came later made of the selector.
func (p *PodNodeSelector) Validate(ctx context.Context, a *Attributes) error {
	if a.Verb != Create || !a.is(group("", "pods")) {
		return nil
	}
	selector, err := p.selector(ctx, a)
	if err == nil && labels.Conflicts(selector, a.Object.(*corev1.Pod).Spec.NodeSelector) {
		err = forbidden(a, errors.New("pod node label selector conflicts with its namespace node label selector"))
	}
	return err
}

// selector is that of the pod's namespace.
func (p *PodNodeSelector) selector(ctx context.Context, a *Attributes) (labels.Set, error) {
	obj, err := p.lister.Get(ctx, corev1.SchemeGroupVersion.WithResource("namespaces"), "", a.Namespace)
	if err != nil {
		return nil, err
	}
	selector, err := labels.ConvertSelectorToLabelsMap(obj.(*corev1.Namespace).Annotations[nodeSelectorAnnotation])
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return selector, nil
}
