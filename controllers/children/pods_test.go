package children

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAvailableIn(t *testing.T) {
	now := time.Unix(1000, 0)
	readyAt := func(seconds int64, status corev1.ConditionStatus) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.Unix(seconds, 0)}}}}
	}
	for name, test := range map[string]struct {
		pod      *corev1.Pod
		minReady int32
		left     time.Duration
		ready    bool
	}{
		"not ready":             {pod: readyAt(900, corev1.ConditionFalse)},
		"without condition":     {pod: &corev1.Pod{}},
		"ready":                 {pod: readyAt(1000, corev1.ConditionTrue), ready: true},
		"ready for too short":   {pod: readyAt(993, corev1.ConditionTrue), minReady: 10, left: 3 * time.Second, ready: true},
		"ready for long enough": {pod: readyAt(990, corev1.ConditionTrue), minReady: 10, ready: true},
	} {
		t.Run(name, func(t *testing.T) {
			if left, ready := AvailableIn(test.pod, test.minReady, now); left != test.left || ready != test.ready {
				t.Errorf("%v, %t; want %v, %t", left, ready, test.left, test.ready)
			}
		})
	}
}

func TestNewPod(t *testing.T) {
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Name: "ignored", Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a": "b"}, Finalizers: []string{"x/y"}},
		Spec:       corev1.PodSpec{NodeName: "node-1"},
	}
	pod := NewPod(template, newOwner(false))
	if pod.Name != "" || pod.GenerateName != "web-" || pod.Namespace != "default" || pod.Spec.NodeName != "node-1" {
		t.Errorf("made %+v", pod)
	}
	if !metav1.IsControlledBy(pod, newOwner(false)) || pod.Annotations["a"] != "b" || pod.Finalizers[0] != "x/y" {
		t.Errorf("made %+v", pod.ObjectMeta)
	}
	pod.Labels["app"] = "changed"
	if template.Labels["app"] != "web" {
		t.Error("the template's labels are shared")
	}
	long := newOwner(false)
	long.SetName(strings.Repeat("x", 253))
	if prefix := NewPod(template, long).GenerateName; prefix != long.GetName() {
		t.Errorf("prefix %q", prefix)
	}
}
