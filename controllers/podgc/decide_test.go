package podgc

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDecide(t *testing.T) {
	going := metav1.Now()
	pod := func(node string, deleted *metav1.Time) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: deleted}, Spec: corev1.PodSpec{NodeName: node}}
	}
	node := func(ready corev1.ConditionStatus, taints ...corev1.Taint) *corev1.Node {
		return &corev1.Node{Spec: corev1.NodeSpec{Taints: taints}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}
	}
	out := corev1.Taint{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		node *corev1.Node
		gone bool
		want cause
	}{
		"unbound":                         {pod: pod("", nil), want: none},
		"unbound and going":               {pod: pod("", &going), want: unscheduled},
		"node missing for a short time":   {pod: pod("n", nil), want: none},
		"node gone":                       {pod: pod("n", nil), gone: true, want: orphaned},
		"node came back":                  {pod: pod("n", nil), node: node(corev1.ConditionTrue), gone: true, want: none},
		"going, node out of service":      {pod: pod("n", &going), node: node(corev1.ConditionUnknown, out), want: outOfService},
		"staying, node out of service":    {pod: pod("n", nil), node: node(corev1.ConditionUnknown, out), want: none},
		"going, node ready all the same":  {pod: pod("n", &going), node: node(corev1.ConditionTrue, out), want: none},
		"going, node silent for a reason": {pod: pod("n", &going), node: node(corev1.ConditionUnknown), want: none},
	} {
		t.Run(name, func(t *testing.T) {
			if got := decide(test.pod, test.node, test.gone); got != test.want {
				t.Errorf("cause %d, want %d", got, test.want)
			}
		})
	}
}

func TestSurplus(t *testing.T) {
	finished := func(name string, created int64, phase corev1.PodPhase, reason string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(created, 0)}, Status: corev1.PodStatus{Phase: phase, Reason: reason}}
	}
	pods := []*corev1.Pod{
		finished("young", 30, corev1.PodSucceeded, ""), finished("old", 10, corev1.PodFailed, ""),
		finished("running", 1, corev1.PodRunning, ""), finished("evicted", 40, corev1.PodFailed, "Evicted"),
	}
	for threshold, want := range []string{"evicted old young", "evicted old", "evicted", "", ""} {
		var got []string
		for _, pod := range surplus(pods, threshold) {
			got = append(got, pod.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("threshold %d: %v, want %s", threshold, got, want)
		}
	}
}

func TestAbsences(t *testing.T) {
	pods := []*corev1.Pod{{Spec: corev1.PodSpec{NodeName: "n"}}}
	missing := func(string) bool { return false }
	a, start := absences{}, time.Unix(1000, 0)
	if gone := a.update(pods, missing, start); len(gone) != 0 {
		t.Errorf("gone at once: %v", gone)
	}
	if gone := a.update(pods, missing, start.Add(quarantine)); !gone["n"] {
		t.Error("not gone after the quarantine")
	}
	if gone := a.update(pods, func(string) bool { return true }, start.Add(time.Minute)); len(gone) != 0 || len(a) != 0 {
		t.Errorf("came back, still remembered: %v, %v", gone, a)
	}
}
