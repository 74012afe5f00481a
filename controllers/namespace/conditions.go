package namespace

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// findings are what stood in the way of one attempt to empty a namespace.
type findings struct {
	discovery  error
	parsing    error
	content    []error
	remaining  map[schema.GroupVersionResource]int
	finalizers map[string]int // how many objects wait for each
}

// conditions describes the findings, all five conditions in a fixed order.
func (f *findings) conditions() []corev1.NamespaceCondition {
	conditions := []corev1.NamespaceCondition{
		{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
		{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
		{Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted", Message: "All content successfully deleted, may be waiting on finalization"},
		{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"},
		{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"},
	}
	for i, failure := range []struct{ reason, message string }{
		{"DiscoveryFailed", discoveryMessage(f.discovery)},
		{"GroupVersionParsingFailed", parsingMessage(f.parsing)},
		{"ContentDeletionFailed", contentMessage(f.content)},
		{"SomeResourcesRemain", remainingMessage(f.remaining)},
		{"SomeFinalizersRemain", finalizersMessage(f.finalizers)},
	} {
		conditions[i].Status = corev1.ConditionFalse
		if failure.message != "" {
			conditions[i].Status, conditions[i].Reason, conditions[i].Message = corev1.ConditionTrue, failure.reason, failure.message
		}
	}
	return conditions
}

func discoveryMessage(err error) string {
	var groups *discovery.ErrGroupDiscoveryFailed
	switch {
	case err == nil:
		return ""
	case errors.As(err, &groups):
		return fmt.Sprintf("Discovery failed for some groups, %d failing: %v", len(groups.Groups), err)
	}
	return err.Error()
}

func parsingMessage(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func contentMessage(errs []error) string {
	if len(errs) == 0 {
		return ""
	}
	messages := make([]string, 0, len(errs))
	for _, err := range errs {
		messages = append(messages, err.Error())
	}
	slices.Sort(messages)
	return fmt.Sprintf("Failed to delete all resource types, %d remaining: %v", len(errs), strings.Join(messages, ", "))
}

func remainingMessage(remaining map[schema.GroupVersionResource]int) string {
	var parts []string
	for resource, count := range remaining {
		parts = append(parts, fmt.Sprintf("%s.%s has %d resource instances", resource.Resource, resource.Group, count))
	}
	return listing("Some resources are remaining: ", parts)
}

func finalizersMessage(finalizers map[string]int) string {
	var parts []string
	for finalizer, count := range finalizers {
		parts = append(parts, fmt.Sprintf("%s in %d resource instances", finalizer, count))
	}
	return listing("Some content in the namespace has finalizers remaining: ", parts)
}

// listing is empty if nothing is listed.
func listing(prefix string, parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	slices.Sort(parts)
	return prefix + strings.Join(parts, ", ")
}

// setConditions brings the status up to date and tells whether that changed it.
func setConditions(status *corev1.NamespaceStatus, conditions []corev1.NamespaceCondition, now metav1.Time) bool {
	changed := false
	for _, condition := range conditions {
		condition.LastTransitionTime = now
		i := slices.IndexFunc(status.Conditions, func(old corev1.NamespaceCondition) bool { return old.Type == condition.Type })
		if i < 0 {
			status.Conditions = append(status.Conditions, condition)
			changed = true
			continue
		}
		old := &status.Conditions[i]
		if old.Status == condition.Status && old.Reason == condition.Reason && old.Message == condition.Message {
			continue
		}
		if old.Status == condition.Status {
			condition.LastTransitionTime = old.LastTransitionTime
		}
		*old, changed = condition, true
	}
	return changed
}
