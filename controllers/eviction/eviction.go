// Package eviction takes pods away for a reason that their status tells: first
// comes the condition DisruptionTarget, then the deletion.
package eviction

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Target is the condition of a pod that a controller takes away.
func Target(pod *corev1.Pod, reason, message string, now time.Time) corev1.PodCondition {
	return corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(now).Rfc3339Copy(), ObservedGeneration: pod.Generation,
	}
}

// SetCondition puts a condition in the place of the one of its type. The time
// of the transition stays when the status does. It tells whether anything changed.
func SetCondition(status *corev1.PodStatus, condition corev1.PodCondition) bool {
	for i := range status.Conditions {
		old := &status.Conditions[i]
		if old.Type != condition.Type {
			continue
		}
		if old.Status == condition.Status {
			condition.LastTransitionTime = old.LastTransitionTime
		}
		same := old.Status == condition.Status && old.Reason == condition.Reason && old.Message == condition.Message &&
			old.ObservedGeneration == condition.ObservedGeneration
		if !same {
			*old = condition
		}
		return !same
	}
	status.Conditions = append(status.Conditions, condition)
	return true
}

// Tell writes a condition, and a phase unless that is empty, to a pod's status.
// Other writers' parts of the status are left alone. A pod that has gone is no error.
func Tell(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, phase corev1.PodPhase, conditions ...corev1.PodCondition) error {
	status := map[string]any{}
	if phase != "" && phase != pod.Status.Phase {
		status["phase"] = phase
	}
	var changed []any
	for _, condition := range conditions {
		if SetCondition(pod.Status.DeepCopy(), condition) {
			changed = append(changed, whole(condition))
		}
	}
	if len(changed) > 0 {
		status["conditions"] = changed
	}
	if len(status) == 0 {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return fmt.Errorf("status of a pod: %w", err)
	}
	_, err = client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// whole is the patch that leaves nothing of an older condition of the type.
func whole(condition corev1.PodCondition) map[string]any {
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return map[string]any{
		"type": condition.Type, "status": condition.Status, "reason": orNull(condition.Reason), "message": orNull(condition.Message),
		"lastTransitionTime": condition.LastTransitionTime, "observedGeneration": condition.ObservedGeneration,
	}
}

// Delete deletes this very pod; that it has gone already is no error. Without a
// grace period the pod's own holds.
func Delete(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, graceSeconds *int64) error {
	err := client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: graceSeconds, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
