package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var now = time.Unix(1_000_000, 0)

// newTestScene has nodes a, b, ... and pods given as words such as "a b:old,unready".
func newTestScene(nodes int, pods string, edit ...func(*appsv1.DaemonSet)) scene {
	one, none := intstr.FromInt32(1), intstr.FromInt32(0)
	labels := map[string]string{"app": "web"}
	ds := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "set"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one, MaxSurge: &none},
			},
		},
	}
	for _, e := range edit {
		e(ds)
	}
	var all []*corev1.Node
	for i := range nodes {
		all = append(all, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i))}})
	}
	var there []*corev1.Pod
	for i, word := range strings.Fields(pods) {
		there = append(there, newTestPod(ds, word, i))
	}
	s := newScene(ds, "new", all, there, now)
	s.held = func(string) time.Duration { return 0 }
	return s
}

func newTestPod(ds *appsv1.DaemonSet, word string, i int) *corev1.Pod {
	node, traits, _ := strings.Cut(word, ":")
	pod := newPod(ds, node, "new")
	pod.Name, pod.UID = fmt.Sprintf("%s%d", node, i), types.UID(fmt.Sprint(i))
	pod.CreationTimestamp = metav1.NewTime(now.Add(time.Duration(i-100) * time.Second))
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-10 * time.Second))}}
	for trait := range strings.SplitSeq(traits, ",") {
		switch trait {
		case "old":
			pod.Labels[hashLabel] = "old"
		case "unready":
			pod.Status.Conditions[0].Status = corev1.ConditionFalse
		case "failed":
			pod.Status.Phase = corev1.PodFailed
		case "succeeded":
			pod.Status.Phase = corev1.PodSucceeded
		case "going":
			pod.DeletionTimestamp = &metav1.Time{Time: now}
		case "bound":
			pod.Spec.NodeName = node
		}
	}
	return pod
}

func (p plan) words() string {
	var words []string
	for _, node := range p.create {
		words = append(words, "+"+node)
	}
	for _, pod := range p.remove {
		words = append(words, "-"+pod.Name)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func surge(n int32) func(*appsv1.DaemonSet) {
	return func(ds *appsv1.DaemonSet) {
		surge, none := intstr.FromInt32(n), intstr.FromInt32(0)
		ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &none, MaxSurge: &surge}
	}
}

func TestDecide(t *testing.T) {
	unavailable := func(value string) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) {
			parsed := intstr.Parse(value)
			ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &parsed
		}
	}
	onDelete := func(ds *appsv1.DaemonSet) {
		ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	}
	for _, test := range []struct {
		name  string
		nodes int
		pods  string
		edit  []func(*appsv1.DaemonSet)
		want  string
	}{
		{name: "one each", nodes: 3, pods: "b", want: "+a +c"},
		{name: "all are there", nodes: 2, pods: "a b", want: ""},
		{name: "waits for the end of the last one", nodes: 1, pods: "a:going", want: ""},
		{name: "ended and going is gone", nodes: 1, pods: "a:failed,going", want: "+a"},
		{name: "failed", nodes: 1, pods: "a:failed", want: "-a0"},
		{name: "succeeded", nodes: 1, pods: "a:succeeded", want: "-a0"},
		{name: "the older stays", nodes: 1, pods: "a a", want: "-a1"},
		{name: "node is gone, pod not bound", nodes: 1, pods: "a b", want: "-b1"},
		{name: "node is gone, pod bound", nodes: 1, pods: "a b:bound", want: ""},
		{name: "one old pod at a time", nodes: 3, pods: "a:old b:old c:old", want: "-a0"},
		{name: "update waits", nodes: 3, pods: "a:unready b:old c:old", want: ""},
		{name: "unavailable old ones go at once", nodes: 3, pods: "a:old,unready b:old,unready c:old", want: "-a0 -b1"},
		{name: "half at a time, rounded up", nodes: 3, pods: "a:old b:old c:old", edit: []func(*appsv1.DaemonSet){unavailable("50%")}, want: "-a0 -b1"},
		{name: "missing pods before the update", nodes: 2, pods: "a:old", want: "+b"},
		{name: "on delete", nodes: 1, pods: "a:old", edit: []func(*appsv1.DaemonSet){onDelete}, want: ""},
		{name: "surge", nodes: 3, pods: "a:old b:old c:old", edit: []func(*appsv1.DaemonSet){surge(2)}, want: "+a +b"},
		{name: "surge waits", nodes: 2, pods: "a:old a:unready b:old", edit: []func(*appsv1.DaemonSet){surge(1)}, want: ""},
		{name: "surge done on a node", nodes: 2, pods: "a:old a b:old", edit: []func(*appsv1.DaemonSet){surge(1)}, want: "-a0"},
		{name: "surge is free beside what is down", nodes: 2, pods: "a:old,unready b:old,unready", edit: []func(*appsv1.DaemonSet){surge(1)}, want: "+a +b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := decide(newTestScene(test.nodes, test.pods, test.edit...)); got.words() != test.want {
				t.Errorf("%q, want %q", got.words(), test.want)
			}
		})
	}
}

func TestFailedPodsAreHeldBack(t *testing.T) {
	b := backoff{places: map[place]delay{}}
	p := place{"set", 1, "a"}
	at := now
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if left := b.left(p, at); left != 0 {
			t.Fatalf("%v left", left)
		}
		b.failed(p, at)
		if left := b.left(p, at); left != want {
			t.Errorf("%v, want %v", left, want)
		}
		at = at.Add(want)
	}
	s := newTestScene(1, "a:failed")
	s.held = func(string) time.Duration { return time.Second }
	if got := decide(s); got.words() != "" || got.again != time.Second {
		t.Errorf("%q again in %v", got.words(), got.again)
	}
	b.failed(place{"set", 1, "b"}, at.Add(time.Hour))
	if left := b.left(p, at); left != 0 {
		t.Errorf("after an hour %v are left", left)
	}
}

func TestJudge(t *testing.T) {
	taint := func(key string, effect corev1.TaintEffect) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: key, Effect: effect}}}}
	}
	selecting := func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} }
	named := func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.NodeName = "b" }
	host := func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.HostNetwork = true }
	for name, test := range map[string]struct {
		node *corev1.Node
		edit []func(*appsv1.DaemonSet)
		want verdict
	}{
		"plain":                   {taint("", corev1.TaintEffectPreferNoSchedule), nil, verdict{true, true}},
		"cordoned":                {taint(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule), nil, verdict{true, true}},
		"unreachable":             {taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute), nil, verdict{true, true}},
		"not ready for new pods":  {taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoSchedule), nil, verdict{false, true}},
		"tainted":                 {taint("t", corev1.TaintEffectNoSchedule), nil, verdict{false, true}},
		"tainted with NoExecute":  {taint("t", corev1.TaintEffectNoExecute), nil, verdict{}},
		"no network":              {taint(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule), nil, verdict{false, true}},
		"no network, host's used": {taint(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule), []func(*appsv1.DaemonSet){host}, verdict{true, true}},
		"without the label":       {taint("", corev1.TaintEffectPreferNoSchedule), []func(*appsv1.DaemonSet){selecting}, verdict{}},
		"another by name":         {taint("", corev1.TaintEffectPreferNoSchedule), []func(*appsv1.DaemonSet){named}, verdict{}},
	} {
		if got := judge(newTestScene(0, "", test.edit...).ds, test.node); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestStatus(t *testing.T) {
	s := newTestScene(4, "a b:old c:unready e:bound")
	s.nodes["e"] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "e"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "t", Effect: corev1.TaintEffectNoSchedule}}}}
	want := appsv1.DaemonSetStatus{
		DesiredNumberScheduled: 4, CurrentNumberScheduled: 3, NumberReady: 2, NumberAvailable: 2, NumberUnavailable: 2,
		UpdatedNumberScheduled: 2, NumberMisscheduled: 1,
	}
	if got := newStatus(s); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
