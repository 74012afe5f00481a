package replicaset

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var now = time.Unix(1_000_000, 0)

// running is a ready pod on node n; change alters it.
func running(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	hourAgo := metav1.NewTime(now.Add(-time.Hour))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: hourAgo},
		Spec:       corev1.PodSpec{NodeName: "n"},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: hourAgo}},
		},
	}
	for _, f := range change {
		f(pod)
	}
	return pod
}

func unassigned(pod *corev1.Pod) {
	pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
}
func pending(pod *corev1.Pod) { pod.Status.Phase = corev1.PodPending }
func unready(pod *corev1.Pod) { pod.Status.Conditions[0].Status = corev1.ConditionFalse }
func cheap(pod *corev1.Pod)   { pod.Annotations = map[string]string{corev1.PodDeletionCost: "-100"} }
func alone(pod *corev1.Pod)   { pod.Spec.NodeName = "m" }
func restarted(pod *corev1.Pod) {
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 3}}
}
func readyFor(d time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-d)) }
}
func aged(d time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(now.Add(-d)) }
}

func TestVictims(t *testing.T) {
	for name, test := range map[string]struct{ first, second *corev1.Pod }{
		"unassigned":              {running("z", unassigned), running("a", pending, unready)},
		"pending":                 {running("z", pending), running("a", unready)},
		"not ready":               {running("z", unready), running("a", cheap)},
		"lower deletion cost":     {running("z", cheap), running("a")},
		"more pods on its node":   {running("z"), running("a", alone, readyFor(time.Minute))},
		"ready for less":          {running("z", readyFor(time.Minute)), running("a", restarted)},
		"more restarts":           {running("z", restarted), running("a", aged(time.Minute))},
		"younger":                 {running("z", aged(time.Minute)), running("a")},
		"about as old: lower uid": {running("a"), running("z", aged(50*time.Minute), readyFor(50*time.Minute))},
	} {
		t.Run(name, func(t *testing.T) {
			active := []*corev1.Pod{test.second, test.first}
			related := append([]*corev1.Pod{running("x"), running("y")}, active...)
			if got := victims(active, related, 1, now); len(got) != 1 || got[0] != test.first {
				t.Errorf("%s goes first, want %s", got[0].Name, test.first.Name)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	pods := func(n int) []*corev1.Pod {
		all := make([]*corev1.Pod, n)
		for i := range all {
			all[i] = running(string(rune('a' + i%26)))
		}
		return all
	}
	for name, test := range map[string]struct{ want, have, create, remove int }{
		"enough":         {want: 3, have: 3},
		"too few":        {want: 3, have: 1, create: 2},
		"far too few":    {want: 1000, have: 1, create: 500},
		"too many":       {want: 1, have: 3, remove: 2},
		"none is wanted": {want: 0, have: 3, remove: 3},
		"far too many":   {want: 0, have: 600, remove: 500},
	} {
		t.Run(name, func(t *testing.T) {
			replicas := int32(test.want)
			active := pods(test.have)
			d := decide(&appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: &replicas}}, active, func() []*corev1.Pod { return active }, now)
			if d.create != test.create || len(d.remove) != test.remove {
				t.Errorf("create %d, remove %d; want %d, %d", d.create, len(d.remove), test.create, test.remove)
			}
		})
	}
}
