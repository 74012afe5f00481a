package namespace

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

func TestConditions(t *testing.T) {
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	all := &findings{
		discovery: &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{{Group: "g", Version: "v1"}: errors.New("down")}},
		parsing:   errors.New("odd"),
		content:   []error{errors.New("second"), errors.New("first")},
		remaining: map[schema.GroupVersionResource]int{widgets: 2, pods: 1}, finalizers: map[string]int{"z/f": 1, "a/f": 2},
	}
	for _, test := range []struct {
		name     string
		found    *findings
		status   corev1.ConditionStatus
		messages []string
	}{
		{"nothing in the way", &findings{}, corev1.ConditionFalse, []string{
			"All resources successfully discovered", "All legacy kube types successfully parsed",
			"All content successfully deleted, may be waiting on finalization", "All content successfully removed",
			"All content-preserving finalizers finished",
		}},
		{"everything in the way", all, corev1.ConditionTrue, []string{
			"Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: g/v1: down", "odd",
			"Failed to delete all resource types, 2 remaining: first, second",
			"Some resources are remaining: pods. has 1 resource instances, widgets.example.com has 2 resource instances",
			"Some content in the namespace has finalizers remaining: a/f in 2 resource instances, z/f in 1 resource instances",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i, condition := range test.found.conditions() {
				if condition.Status != test.status || condition.Message != test.messages[i] {
					t.Errorf("%s is %s: %q\nwant %s: %q", condition.Type, condition.Status, condition.Message, test.status, test.messages[i])
				}
			}
		})
	}
}

func TestSetConditions(t *testing.T) {
	status := &corev1.NamespaceStatus{}
	first, later := metav1.Unix(1, 0), metav1.NewTime(time.Unix(2, 0))
	if !setConditions(status, (&findings{}).conditions(), first) || len(status.Conditions) != 5 {
		t.Fatalf("%d conditions, want 5", len(status.Conditions))
	}
	if setConditions(status, (&findings{}).conditions(), later) {
		t.Error("changed by the same conditions")
	}
	if !setConditions(status, (&findings{finalizers: map[string]int{"f": 1}}).conditions(), later) {
		t.Error("not changed by a finalizer")
	}
	if status.Conditions[3].LastTransitionTime != first || status.Conditions[4].LastTransitionTime != later {
		t.Error("want only the condition that changed to have a new transition time")
	}
}
