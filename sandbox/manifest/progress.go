package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Progress says in words how far an object is on its way to Running, and
// whether it has arrived. Kinds that do not run anything have arrived at once.
func Progress(obj *unstructured.Unstructured) (words string, done bool) {
	switch obj.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Kind: "Pod"}:
		return podProgress(obj)
	case schema.GroupKind{Group: "apps", Kind: "DaemonSet"}:
		return replicaProgress(obj, integer(obj, 0, "status", "desiredNumberScheduled"), "numberReady", "updatedNumberScheduled")
	case schema.GroupKind{Group: "apps", Kind: "Deployment"},
		schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		return replicaProgress(obj, integer(obj, 1, "spec", "replicas"), "readyReplicas", "updatedReplicas")
	case schema.GroupKind{Group: "apps", Kind: "ReplicaSet"},
		schema.GroupKind{Kind: "ReplicationController"}:
		return replicaProgress(obj, integer(obj, 1, "spec", "replicas"), "readyReplicas", "replicas")
	case schema.GroupKind{Group: "batch", Kind: "Job"}:
		return jobProgress(obj)
	}
	return "", true
}

// podProgress ends with Running, or with a phase that nothing follows.
func podProgress(obj *unstructured.Unstructured) (string, bool) {
	phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
	node, _, _ := unstructured.NestedString(obj.Object, "spec", "nodeName")
	if node != "" {
		phase += " on " + node
	} else if message := conditionMessage(obj, "PodScheduled", "False"); message != "" {
		phase += ": " + message
	}
	switch current, _, _ := unstructured.NestedString(obj.Object, "status", "phase"); current {
	case "Running", "Succeeded", "Failed":
		return phase, true
	}
	return phase, false
}

// replicaProgress ends when the controller has seen the newest spec and as many
// pods as wanted are updated and ready.
func replicaProgress(obj *unstructured.Unstructured, want int64, readyField, updatedField string) (string, bool) {
	ready := integer(obj, 0, "status", readyField)
	updated := integer(obj, 0, "status", updatedField)
	observed := integer(obj, 0, "status", "observedGeneration") >= obj.GetGeneration()
	return fmt.Sprintf("%d of %d pods ready", ready, want), observed && ready >= want && updated >= want
}

func jobProgress(obj *unstructured.Unstructured) (string, bool) {
	want := integer(obj, 1, "spec", "completions")
	active, succeeded, failed := integer(obj, 0, "status", "active"), integer(obj, 0, "status", "succeeded"), integer(obj, 0, "status", "failed")
	words := fmt.Sprintf("%d active, %d of %d succeeded, %d failed", active, succeeded, want, failed)
	return words, hasCondition(obj, "Complete", "True") || hasCondition(obj, "Failed", "True")
}

func integer(obj *unstructured.Unstructured, absent int64, path ...string) int64 {
	n, found, err := unstructured.NestedInt64(obj.Object, path...)
	if !found || err != nil {
		return absent
	}
	return n
}

func hasCondition(obj *unstructured.Unstructured, kind, status string) bool {
	return condition(obj, kind, status) != nil
}

func conditionMessage(obj *unstructured.Unstructured, kind, status string) string {
	message, _ := condition(obj, kind, status)["message"].(string)
	return message
}

func condition(obj *unstructured.Unstructured, kind, status string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == kind && c["status"] == status {
			return c
		}
	}
	return nil
}
