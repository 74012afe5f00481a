package replicationcontroller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestViewLosesNothing has a value in each field that the engine sees.
func TestViewLosesNothing(t *testing.T) {
	replicas := int32(3)
	rc := &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "u", Generation: 2},
		Spec: corev1.ReplicationControllerSpec{
			Replicas: &replicas, MinReadySeconds: 5, Selector: map[string]string{"app": "web"},
			Template: &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}},
		},
		Status: corev1.ReplicationControllerStatus{
			Replicas: 5, FullyLabeledReplicas: 4, ReadyReplicas: 3, AvailableReplicas: 2, ObservedGeneration: 1,
			Conditions: []corev1.ReplicationControllerCondition{{Type: corev1.ReplicationControllerReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "m"}},
		},
	}
	if got := original(view(rc)); !equality.Semantic.DeepEqual(got, rc) {
		t.Errorf("there and back it is %+v\nwant %+v", got, rc)
	}
}
