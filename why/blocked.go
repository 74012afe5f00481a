package why

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Sentence says what blocks an object, to follow its name: "waits for …".
func (a *Asker) Sentence(ctx context.Context, obj *unstructured.Unstructured) (string, error) {
	if obj.GetDeletionTimestamp() != nil {
		return a.terminating(ctx, obj)
	}
	switch obj.GetKind() + "." + obj.GroupVersionKind().Group {
	case "Pod.":
		return ask(obj, func(pod *v1.Pod) (string, error) { return a.pod(pod), nil })
	case "PersistentVolumeClaim.":
		return ask(obj, func(claim *v1.PersistentVolumeClaim) (string, error) { return a.claim(ctx, claim) })
	case "Node.":
		return ask(obj, func(node *v1.Node) (string, error) { return nodeState(node), nil })
	case "Service.":
		return ask(obj, func(service *v1.Service) (string, error) { return a.service(ctx, service) })
	case "Deployment.apps":
		return ask(obj, func(d *appsv1.Deployment) (string, error) { return a.deployment(ctx, d) })
	case "ReplicaSet.apps":
		return ask(obj, func(set *appsv1.ReplicaSet) (string, error) { return a.replicaSet(ctx, set) })
	case "StatefulSet.apps":
		return ask(obj, func(set *appsv1.StatefulSet) (string, error) { return a.statefulSet(ctx, set) })
	case "DaemonSet.apps":
		return ask(obj, func(set *appsv1.DaemonSet) (string, error) { return a.daemonSet(ctx, set) })
	case "Job.batch":
		return ask(obj, func(job *batchv1.Job) (string, error) { return a.job(ctx, job) })
	}
	return conditionsOf(obj), nil
}

// ask gives an object its type.
func ask[T any](obj *unstructured.Unstructured, answer func(*T) (string, error)) (string, error) {
	typed := new(T)
	if err := convert(obj, typed); err != nil {
		return "", err
	}
	return answer(typed)
}

const nothing = "is as it should be: nothing blocks it"

// conditionsOf is for kinds without a rule of their own: a condition that by
// custom should be True, and is not.
func conditionsOf(obj *unstructured.Unstructured) string {
	conditions, _, err := unstructured.NestedSlice(obj.Object, "status", "conditions")
	if err != nil {
		return nothing
	}
	for _, entry := range conditions {
		c, ok := entry.(map[string]any)
		if !ok || c["status"] == "True" {
			continue
		}
		switch c["type"] {
		case "Ready", "Available", "Established", "Synced", "Progressing", "Accepted":
			return fmt.Sprintf("is not %v: %v", c["type"], text(str(c["reason"]), str(c["message"])))
		}
	}
	return nothing
}

func str(value any) string {
	s, _ := value.(string)
	return s
}

// text joins a reason and a message, of which either may be missing.
func text(reason, message string) string {
	message = strings.TrimSuffix(message, ".")
	switch {
	case reason == "":
		return message
	case message == "":
		return reason
	}
	return reason + ", " + message
}

// pod says what keeps a pod from being ready.
func (a *Asker) pod(pod *v1.Pod) string {
	switch {
	case pod.Status.Phase == v1.PodSucceeded:
		return "has done its work: all containers ended with success"
	case pod.Status.Phase == v1.PodFailed:
		return "has failed: " + text(pod.Status.Reason, pod.Status.Message) + ended(pod)
	case pod.Spec.NodeName == "":
		return unscheduled(pod)
	}
	for _, statuses := range [][]v1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if sentence := container(&statuses[i]); sentence != "" {
				return sentence
			}
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodReady && c.Status != v1.ConditionTrue {
			return "is not ready: " + text(c.Reason, c.Message)
		}
	}
	if pod.Status.Phase == v1.PodPending {
		return fmt.Sprintf("is on %s, whose kubelet has not started it yet", pod.Spec.NodeName)
	}
	return nothing
}

func unscheduled(pod *v1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status != v1.ConditionTrue {
			if c.Reason == v1.PodReasonSchedulingGated {
				return "waits for its scheduling gates to be removed"
			}
			return "has no node: " + strings.TrimSuffix(c.Message, ".")
		}
	}
	return fmt.Sprintf("has no node, and scheduler %q has not looked at it yet", pod.Spec.SchedulerName)
}

// container is "" for one that does what it should.
func container(s *v1.ContainerStatus) string {
	switch {
	case s.State.Waiting != nil && s.State.Waiting.Reason != "" && s.State.Waiting.Reason != "PodInitializing":
		sentence := fmt.Sprintf("is held up by container %s: %s", s.Name, text(s.State.Waiting.Reason, s.State.Waiting.Message))
		if last := s.LastTerminationState.Terminated; last != nil {
			sentence += fmt.Sprintf("; it ended with exit code %d (%s) and restarted %d times", last.ExitCode, last.Reason, s.RestartCount)
		}
		return sentence
	case s.State.Terminated != nil && s.State.Terminated.ExitCode != 0:
		return fmt.Sprintf("is held up by container %s, which ended with exit code %d (%s)", s.Name, s.State.Terminated.ExitCode, s.State.Terminated.Reason)
	case s.State.Running != nil && !s.Ready && s.Started != nil && !*s.Started:
		return fmt.Sprintf("waits for the startup probe of container %s", s.Name)
	case s.State.Running != nil && !s.Ready:
		return fmt.Sprintf("is not ready, since the readiness probe of container %s does not pass", s.Name)
	}
	return ""
}

func ended(pod *v1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && t.ExitCode != 0 {
			return fmt.Sprintf(" (container %s ended with exit code %d, %s)", s.Name, t.ExitCode, t.Reason)
		}
	}
	return ""
}

func nodeState(node *v1.Node) string {
	for _, c := range node.Status.Conditions {
		if c.Type == v1.NodeReady && c.Status != v1.ConditionTrue {
			return "is not ready: " + text(c.Reason, c.Message)
		}
	}
	if node.Spec.Unschedulable {
		return "is cordoned: it takes no new pods"
	}
	return nothing
}

// claim says what keeps a claim from being bound.
func (a *Asker) claim(ctx context.Context, claim *v1.PersistentVolumeClaim) (string, error) {
	if claim.Status.Phase == v1.ClaimBound {
		return nothing, nil
	}
	events, err := a.Client.CoreV1().Events(claim.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(claim.UID)})
	if err != nil {
		return "", err
	}
	var last *v1.Event
	for i := range events.Items {
		e := &events.Items[i]
		if last == nil || last.LastTimestamp.Before(&e.LastTimestamp) {
			last = e
		}
	}
	if last != nil {
		return fmt.Sprintf("is %s: %s", claim.Status.Phase, text(last.Reason, last.Message)), nil
	}
	return fmt.Sprintf("is %s, and nobody has said why yet", claim.Status.Phase), nil
}

func (a *Asker) service(ctx context.Context, service *v1.Service) (string, error) {
	if len(service.Spec.Selector) == 0 {
		return nothing, nil
	}
	selector := metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: service.Spec.Selector})
	pods, err := a.Client.CoreV1().Pods(service.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return "", err
	}
	if len(pods.Items) == 0 {
		return "has no endpoints: no pod matches its selector " + selector, nil
	}
	blocked, first := a.firstBlocked(pods.Items)
	if blocked < len(pods.Items) {
		return nothing, nil
	}
	return "has no ready endpoints: " + first, nil
}
