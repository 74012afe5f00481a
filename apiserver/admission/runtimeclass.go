package admission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// RuntimeClass gives pods the overhead and the nodes of their runtime.
type RuntimeClass struct{ lister Lister }

// Name of the plugin.
func (*RuntimeClass) Name() string { return "RuntimeClass" }

// Admit fills overhead, node selector and tolerations of a new pod.
func (p *RuntimeClass) Admit(ctx context.Context, a *Attributes) error {
	if a.Verb != Create || !a.is(group("", "pods")) {
		return nil
	}
	spec := &a.Object.(*corev1.Pod).Spec
	class, err := p.class(ctx, a, spec)
	if err != nil || class == nil {
		return err
	}
	if class.Overhead != nil && spec.Overhead == nil {
		spec.Overhead = class.Overhead.PodFixed.DeepCopy()
	}
	return schedule(a, spec, class.Scheduling)
}

// Validate refuses an overhead that is not the class's.
func (p *RuntimeClass) Validate(ctx context.Context, a *Attributes) error {
	if a.Verb != Create || !a.is(group("", "pods")) {
		return nil
	}
	spec := &a.Object.(*corev1.Pod).Spec
	class, err := p.class(ctx, a, spec)
	if err != nil {
		return err
	}
	hasOverhead := class != nil && class.Overhead != nil
	switch {
	case hasOverhead && !equality.Semantic.DeepEqual(class.Overhead.PodFixed, spec.Overhead):
		return forbidden(a, errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"))
	case !hasOverhead && spec.Overhead != nil:
		return forbidden(a, errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"))
	}
	return nil
}

// class of the pod, nil if it names none.
func (p *RuntimeClass) class(ctx context.Context, a *Attributes, spec *corev1.PodSpec) (*nodev1.RuntimeClass, error) {
	if spec.RuntimeClassName == nil {
		return nil, nil
	}
	obj, err := p.lister.Get(ctx, nodev1.SchemeGroupVersion.WithResource("runtimeclasses"), "", *spec.RuntimeClassName)
	if apierrors.IsNotFound(err) {
		return nil, forbidden(a, fmt.Errorf("pod rejected: RuntimeClass %q not found", *spec.RuntimeClassName))
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return obj.(*nodev1.RuntimeClass), nil
}

// schedule adds the class's rules to the pod's own.
func schedule(a *Attributes, spec *corev1.PodSpec, scheduling *nodev1.Scheduling) error {
	if scheduling == nil {
		return nil
	}
	selector := maps.Clone(spec.NodeSelector)
	if selector == nil && len(scheduling.NodeSelector) > 0 {
		selector = map[string]string{}
	}
	for _, key := range slices.Sorted(maps.Keys(scheduling.NodeSelector)) {
		want := scheduling.NodeSelector[key]
		if own, ok := selector[key]; ok && own != want {
			return forbidden(a, fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, want, key, own))
		}
		selector[key] = want
	}
	spec.NodeSelector = selector
	for _, toleration := range scheduling.Tolerations {
		isThere := func(t corev1.Toleration) bool { return equality.Semantic.DeepEqual(t, toleration) }
		if !slices.ContainsFunc(spec.Tolerations, isThere) {
			spec.Tolerations = append(spec.Tolerations, toleration)
		}
	}
	return nil
}
