package attachdetach

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// act does what was decided on. The node's status goes first: its kubelet must
// not mount what is about to be detached.
func (c *Controller) act(ctx context.Context, node *corev1.Node, p plan) error {
	if node != nil {
		if err := c.report(ctx, node, p.attached); err != nil {
			return err
		}
	}
	for _, event := range p.events {
		for _, pod := range event.pods {
			c.events.Event(pod, event.eventType, event.reason, event.message)
		}
	}
	for _, a := range p.detach {
		err := c.client.StorageV1().VolumeAttachments().Delete(ctx, a.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &a.UID}})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	for _, a := range p.attach {
		_, err := c.client.StorageV1().VolumeAttachments().Create(ctx, a, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// report writes which volumes are attached. Nobody else writes that field, so
// that a patch of it competes with no kubelet.
func (c *Controller) report(ctx context.Context, node *corev1.Node, attached []corev1.AttachedVolume) error {
	if equality.Semantic.DeepEqual(node.Status.VolumesAttached, attached) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"volumesAttached": attached}})
	if err != nil {
		return fmt.Errorf("encoding attached volumes: %w", err)
	}
	_, err = c.client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
