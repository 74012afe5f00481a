package printers

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func running(ready bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{Ready: ready, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func terminated(code int32, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}}
}

func TestPodStatus(t *testing.T) {
	always, deleted := corev1.ContainerRestartPolicyAlways, metav1.NewTime(time.Unix(1, 0))
	ready := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	containers := func(n int) []corev1.Container { return make([]corev1.Container, n) }
	sidecar := []corev1.Container{{Name: "s", RestartPolicy: &always}}
	started := running(true)
	started.Name, started.Started = "s", new(bool)
	*started.Started = true
	for _, c := range []struct {
		name, status string
		ready, total int
		pod          corev1.Pod
	}{
		{"phase alone", "Pending", 0, 1, corev1.Pod{
			Spec:   corev1.PodSpec{Containers: containers(1)},
			Status: corev1.PodStatus{Phase: corev1.PodPending},
		}},
		{"gated", "SchedulingGated", 0, 1, corev1.Pod{
			Spec: corev1.PodSpec{Containers: containers(1)},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated},
			}},
		}},
		{"one of two completed, the other ready", "Running", 1, 2, corev1.Pod{
			Spec: corev1.PodSpec{Containers: containers(2)},
			Status: corev1.PodStatus{
				Phase: corev1.PodRunning, Conditions: ready,
				ContainerStatuses: []corev1.ContainerStatus{terminated(0, "Completed"), running(true)},
			},
		}},
		{"one of two completed, the pod not ready", "NotReady", 1, 2, corev1.Pod{
			Spec: corev1.PodSpec{Containers: containers(2)},
			Status: corev1.PodStatus{
				Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{terminated(0, "Completed"), running(true)},
			},
		}},
		{"a failure outweighs completion", "Error", 0, 2, corev1.Pod{
			Spec: corev1.PodSpec{Containers: containers(2)},
			Status: corev1.PodStatus{
				Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{terminated(0, "Completed"), terminated(2, "Error")},
			},
		}},
		{"exit code without reason", "ExitCode:3", 0, 1, corev1.Pod{
			Spec:   corev1.PodSpec{Containers: containers(1)},
			Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{terminated(3, "")}},
		}},
		{"failed init container", "Init:Error", 0, 1, corev1.Pod{
			Spec:   corev1.PodSpec{Containers: containers(1), InitContainers: containers(1)},
			Status: corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: []corev1.ContainerStatus{terminated(1, "Error")}},
		}},
		{"sidecar counts", "Running", 2, 2, corev1.Pod{
			Spec: corev1.PodSpec{Containers: containers(1), InitContainers: sidecar},
			Status: corev1.PodStatus{
				Phase: corev1.PodRunning, InitContainerStatuses: []corev1.ContainerStatus{started},
				ContainerStatuses: []corev1.ContainerStatus{running(true)},
			},
		}},
		{"being deleted", "Terminating", 1, 1, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted}, Spec: corev1.PodSpec{Containers: containers(1)},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{running(true)}},
		}},
		{"being deleted on a lost node", "Unknown", 0, 1, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted}, Spec: corev1.PodSpec{Containers: containers(1)},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Reason: nodeLost},
		}},
	} {
		s := summarize(&c.pod)
		if s.status != c.status || s.ready != c.ready || s.total != c.total {
			t.Errorf("%s: got %s %d/%d, want %s %d/%d", c.name, s.status, s.ready, s.total, c.status, c.ready, c.total)
		}
	}
}
