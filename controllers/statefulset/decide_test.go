package statefulset

import (
	"fmt"
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

// newScene has a set and its pods, given as words such as "0 1:old 2:old,unready".
func newScene(replicas int32, pods string, edit ...func(*appsv1.StatefulSet)) scene {
	template := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "set"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: *template,
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
				Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{},
			},
		},
	}
	for _, e := range edit {
		e(set)
	}
	s := scene{
		set: set, current: revision{"old", template}, update: revision{"new", template}, now: now,
		claim: func(string) *corev1.PersistentVolumeClaim { return nil },
	}
	for word := range strings.FieldsSeq(pods) {
		s.pods = append(s.pods, newTestPod(&s, word))
	}
	return s
}

func newTestPod(s *scene, word string) *corev1.Pod {
	name, traits, _ := strings.Cut(word, ":")
	var n int
	_, _ = fmt.Sscan(name, &n)
	pod := newPod(s.set, s.update, n)
	pod.UID = types.UID(pod.Name)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-10 * time.Second))}}
	for trait := range strings.SplitSeq(traits, ",") {
		switch trait {
		case "old":
			pod.Labels[appsv1.StatefulSetRevisionLabel] = "old"
		case "unready":
			pod.Status.Conditions[0].Status = corev1.ConditionFalse
		case "pending":
			pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
		case "failed":
			pod.Status = corev1.PodStatus{Phase: corev1.PodFailed}
		case "going":
			pod.DeletionTimestamp = &metav1.Time{Time: now}
		case "bare":
			delete(pod.Labels, appsv1.StatefulSetPodNameLabel)
		}
	}
	return pod
}

func parallel(set *appsv1.StatefulSet) {
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
}

func partition(n int32) func(*appsv1.StatefulSet) {
	return func(set *appsv1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Partition = &n }
}

func maxUnavailable(n int32) func(*appsv1.StatefulSet) {
	return func(set *appsv1.StatefulSet) {
		value := intstr.FromInt32(n)
		set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &value
	}
}

func TestDecide(t *testing.T) {
	onDelete := func(set *appsv1.StatefulSet) {
		set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	}
	from5 := func(set *appsv1.StatefulSet) { set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 5} }
	slow := func(set *appsv1.StatefulSet) { set.Spec.MinReadySeconds = 60 }
	going := func(set *appsv1.StatefulSet) { set.DeletionTimestamp = &metav1.Time{Time: now} }
	for _, test := range []struct {
		name     string
		replicas int32
		pods     string
		edit     []func(*appsv1.StatefulSet)
		want     string
	}{
		{name: "first pod", replicas: 3, want: "create web-0, web-0 is new"},
		{name: "next pod", replicas: 3, pods: "0", want: "create web-1, web-1 is new"},
		{name: "waits for ready", replicas: 3, pods: "0:unready", want: "web-0 is not ready"},
		{name: "waits for minReadySeconds", replicas: 3, pods: "0", edit: []func(*appsv1.StatefulSet){slow}, want: "web-0 is not available yet"},
		{name: "all are there", replicas: 2, pods: "0 1", want: "nothing to do"},
		{name: "start ordinal", replicas: 2, pods: "5", edit: []func(*appsv1.StatefulSet){from5}, want: "create web-6, web-6 is new"},
		{name: "raised start ordinal", replicas: 1, pods: "0 5", edit: []func(*appsv1.StatefulSet){from5}, want: "delete web-0"},
		{name: "all at once", replicas: 3, pods: "1:unready", edit: []func(*appsv1.StatefulSet){parallel}, want: "create web-0, create web-2"},
		{name: "failed", replicas: 2, pods: "0:failed 1", want: "delete web-0, web-0 has ended"},
		{name: "failed and going", replicas: 2, pods: "0:failed,going 1", want: "web-0 has ended"},
		{name: "going", replicas: 2, pods: "0:going 1", want: "web-0 is terminating"},
		{name: "without identity", replicas: 1, pods: "0:bare", want: "repair web-0"},
		{name: "scale down from the top", replicas: 1, pods: "0 1 2", want: "delete web-2"},
		{name: "one at a time", replicas: 1, pods: "0 1 2:going", want: "web-2 is terminating"},
		{name: "scale down waits for replicas", replicas: 1, pods: "0:unready 1 2", want: "web-0 is not ready"},
		{name: "scale down waits for condemned", replicas: 1, pods: "0 1:unready 2:unready", want: "web-1 is not available"},
		{name: "the unready one may go", replicas: 1, pods: "0 1 2:unready", want: "delete web-2"},
		{name: "scale down at once", replicas: 1, pods: "0 1 2:unready", edit: []func(*appsv1.StatefulSet){parallel}, want: "delete web-2, delete web-1"},
		{name: "update from the top", replicas: 3, pods: "0:old 1:old 2:old", want: "delete web-2"},
		{name: "update waits", replicas: 3, pods: "0:old 1:old 2:unready", want: "web-2 is not ready"},
		{name: "update goes on", replicas: 3, pods: "0:old 1:old 2", want: "delete web-1"},
		{name: "stuck as long as it is ordered", replicas: 3, pods: "0:old,unready", want: "web-0 is not ready"},
		{name: "partition", replicas: 3, pods: "0:old 1:old 2", edit: []func(*appsv1.StatefulSet){partition(2)}, want: "nothing to do"},
		{name: "on delete", replicas: 2, pods: "0:old 1:old", edit: []func(*appsv1.StatefulSet){onDelete}, want: "nothing to do"},
		{name: "two at a time", replicas: 4, pods: "0:old 1:old 2:old 3:old", edit: []func(*appsv1.StatefulSet){maxUnavailable(2)}, want: "delete web-3, delete web-2"},
		{name: "parallel keeps maxUnavailable", replicas: 3, pods: "0:old 1:old 2:pending", edit: []func(*appsv1.StatefulSet){parallel}, want: "nothing to do"},
		{name: "parallel replaces what is down anyway", replicas: 3, pods: "0:old,unready 1:old,unready 2:old", edit: []func(*appsv1.StatefulSet){parallel}, want: "delete web-1, delete web-0"},
		{name: "scaling before updating", replicas: 1, pods: "0:old 1:old", want: "delete web-1"},
		{name: "deleted", replicas: 3, pods: "0", edit: []func(*appsv1.StatefulSet){going}, want: "it is being deleted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := decide(newScene(test.replicas, test.pods, test.edit...)).words(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestNewPodsBelowThePartitionAreOld(t *testing.T) {
	s := newScene(3, "0:old 2", parallel, partition(2))
	p := decide(s)
	if p.words() != "create web-1" || revisionOf(p.phases[0][0].pod) != "old" {
		t.Errorf("%s of revision %s", p.words(), revisionOf(p.phases[0][0].pod))
	}
}

func TestStatus(t *testing.T) {
	for _, test := range []struct {
		pods     string
		replaced int32
		want     string // replicas, ready, available, current, updated; current revision
	}{
		{pods: "", want: "0 0 0 0 0 old"},
		{pods: "0:old 1:old 2:old", want: "3 3 3 3 0 old"},
		{pods: "0:old 1:old 2:old", replaced: 1, want: "3 3 3 2 0 old"},
		{pods: "0:old 1:old 2:old,going", want: "3 3 3 2 0 old"},
		{pods: "0:old 1 2:pending", want: "3 2 2 1 2 old"},
		{pods: "0 1 2", want: "3 3 3 3 3 new"},
	} {
		s := newStatus(newScene(3, test.pods), 0, test.replaced)
		got := fmt.Sprintf("%d %d %d %d %d %s", s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.CurrentReplicas, s.UpdatedReplicas, s.CurrentRevision)
		if got != test.want {
			t.Errorf("pods %q: %s, want %s", test.pods, got, test.want)
		}
	}
}
