package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resources "k8s.io/component-helpers/resource"
)

// The causes of PodResizeValidator's refusals.
const (
	nodeCapacityCause        metav1.CauseType = "NodeCapacity"
	unsupportedPlatformCause metav1.CauseType = "UnsupportedPlatform"
)

// PodResizeValidator refuses to resize a running pod beyond its node.
type PodResizeValidator struct{ lister Lister }

// Name of the plugin.
func (*PodResizeValidator) Name() string { return "PodResizeValidator" }

// Validate looks at writes to pods/resize that change a pod on a node.
func (p *PodResizeValidator) Validate(ctx context.Context, a *Attributes) error {
	if a.Verb != Update || a.GVR.GroupResource() != group("", "pods") || a.Subresource != "resize" {
		return nil
	}
	pod := a.Object.(*corev1.Pod)
	if pod.Spec.NodeName == "" || pod.Generation == a.OldObject.(*corev1.Pod).Generation {
		return nil
	}
	obj, err := p.lister.Get(ctx, corev1.SchemeGroupVersion.WithResource("nodes"), "", pod.Spec.NodeName)
	if apierrors.IsNotFound(err) {
		return forbidden(a, fmt.Errorf("node %q not found", pod.Spec.NodeName))
	}
	if err != nil {
		return forbidden(a, fmt.Errorf("failed to get node %q: %w", pod.Spec.NodeName, err))
	}
	node := obj.(*corev1.Node)
	if err := fits(pod, node); err != nil {
		return because(a, err, nodeCapacityCause)
	}
	if os := node.Labels[corev1.LabelOSStable]; os != "linux" {
		err := fmt.Errorf("pod resize is only supported on linux nodes, node %q is %q", node.Name, os)
		return because(a, err, unsupportedPlatformCause)
	}
	return nil
}

// fits compares with the whole node: what other pods leave is the kubelet's matter.
func fits(pod *corev1.Pod, node *corev1.Node) error {
	requests := resources.PodRequests(pod, resources.PodResourcesOptions{})
	var faults []string
	if cpu, room := requests.Cpu().MilliValue(), node.Status.Allocatable.Cpu().MilliValue(); cpu > room {
		faults = append(faults, fmt.Sprintf("cpu, requested: %d, allocatable: %d", cpu, room))
	}
	if memory, room := requests.Memory().Value(), node.Status.Allocatable.Memory().Value(); memory > room {
		faults = append(faults, fmt.Sprintf("memory, requested: %d, allocatable: %d", memory, room))
	}
	if len(faults) == 0 {
		return nil
	}
	return errors.New("Node didn't have enough allocatable resources: " + strings.Join(faults, "; ")) //nolint:staticcheck // the text that Kubernetes answers with
}

// because is a refusal with a cause that programs can tell.
func because(a *Attributes, err error, cause metav1.CauseType) error {
	status := apierrors.NewForbidden(a.GVR.GroupResource(), a.subject(), err)
	status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Type: cause})
	return status
}
