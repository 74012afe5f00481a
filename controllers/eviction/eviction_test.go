package eviction

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSetCondition(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	first := Target(pod, "DeletionByPodGC", "gone", time.Unix(100, 0))
	status := corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	if !SetCondition(&status, first) || len(status.Conditions) != 2 {
		t.Fatalf("conditions %+v", status.Conditions)
	}
	again := Target(pod, "DeletionByPodGC", "gone", time.Unix(200, 0))
	if SetCondition(&status, again) {
		t.Error("the same condition is a change")
	}
	other := Target(pod, "PreemptionByScheduler", "room", time.Unix(300, 0))
	if !SetCondition(&status, other) {
		t.Error("another reason is no change")
	}
	if got := status.Conditions[1]; got.Reason != "PreemptionByScheduler" || got.LastTransitionTime.Unix() != 100 || got.ObservedGeneration != 3 {
		t.Errorf("condition %+v: the transition was at 100", got)
	}
}
