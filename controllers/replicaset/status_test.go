package replicaset

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func newSet(replicas, minReadySeconds int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas, MinReadySeconds: minReadySeconds,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}},
		},
	}
}

func labelled(pod *corev1.Pod) { pod.Labels = map[string]string{"app": "web", "more": "x"} }

func TestNewStatus(t *testing.T) {
	pods := claimed{
		active:      []*corev1.Pod{running("a", labelled), running("b", labelled, readyFor(time.Second)), running("c", unready)},
		terminating: []*corev1.Pod{running("d")},
	}
	one := int32(1)
	want := appsv1.ReplicaSetStatus{
		Replicas: 3, FullyLabeledReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 1, TerminatingReplicas: &one, ObservedGeneration: 2,
	}
	set := newSet(3, 10)
	if got := newStatus(set, pods, nil, now); !sameStatus(&got, &want) {
		t.Errorf("status %+v, want %+v", got, want)
	}
	if next := nextAvailable(set, pods.active, now); next != 9*time.Second {
		t.Errorf("the next pod is available in %v, want 9s", next)
	}
}

func TestReplicaFailure(t *testing.T) {
	set := newSet(2, 0)
	full := errors.New("exceeded quota")
	status := newStatus(set, claimed{active: []*corev1.Pod{running("a")}}, full, now)
	if f := failure(&status); f == nil || f.Reason != "FailedCreate" || f.Message != "exceeded quota" || f.Status != corev1.ConditionTrue {
		t.Fatalf("failure is %+v", f)
	}
	set.Status = status
	if again := newStatus(set, claimed{}, errors.New("another"), now.Add(time.Hour)); failure(&again).Message != "exceeded quota" {
		t.Error("a standing failure was rewritten")
	}
	if healed := newStatus(set, claimed{}, nil, now); failure(&healed) != nil {
		t.Error("the failure stays without a cause")
	}
	crowd := claimed{active: []*corev1.Pod{running("a"), running("b"), running("c")}}
	if s := newStatus(newSet(2, 0), crowd, full, now); failure(&s).Reason != "FailedDelete" {
		t.Errorf("reason %s, want FailedDelete", failure(&s).Reason)
	}
}
