package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// PodTopologyLabels copies zone and region of the node to the pods bound to it,
// where containers can read them through the downward API.
type PodTopologyLabels struct{ lister Lister }

// Name of the plugin.
func (*PodTopologyLabels) Name() string { return "PodTopologyLabels" }

// Admit labels a Binding, whose labels the pod takes over, or a pod that is
// created on a node.
func (p *PodTopologyLabels) Admit(ctx context.Context, a *Attributes) error {
	if a.Verb != Create || a.GVR.GroupResource() != group("", "pods") {
		return nil
	}
	switch obj := a.Object.(type) {
	case *corev1.Binding:
		if obj.Target.Kind != "" && obj.Target.Kind != "Node" {
			return nil
		}
		return p.label(ctx, obj.Target.Name, &obj.Labels)
	case *corev1.Pod:
		if a.Subresource == "" && obj.Spec.NodeName != "" {
			return p.label(ctx, obj.Spec.NodeName, &obj.Labels)
		}
	}
	return nil
}

// label does nothing if there is no such node.
func (p *PodTopologyLabels) label(ctx context.Context, node string, labels *map[string]string) error {
	obj, err := p.lister.Get(ctx, corev1.SchemeGroupVersion.WithResource("nodes"), "", node)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		value, ok := obj.(*corev1.Node).Labels[key]
		if !ok {
			continue
		}
		if *labels == nil {
			*labels = map[string]string{}
		}
		(*labels)[key] = value
	}
	return nil
}
