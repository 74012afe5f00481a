package fakelet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// step is what a kubelet does next to a pod.
type step struct {
	status *corev1.PodStatus // to write, nil when it stands
	remove bool              // the pod has ended and goes
	after  time.Duration     // when to look again, 0 for never
	words  string            // the decision, for the trace
	events []event           // to tell
}

type event struct{ kind, reason, message string }

// next decides. ip is the address of the pod, host that of its node.
func next(pod *corev1.Pod, ip, host string, now time.Time) step {
	switch {
	case pod.DeletionTimestamp != nil:
		return terminate(pod, now)
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return step{words: "pod has ended"}
	}
	status := pod.Status.DeepCopy()
	s := step{words: "pod is as it should be"}
	if status.StartTime == nil {
		start(pod, status, ip, host, now)
		s.words = "start containers: Running and Ready"
		s.events = startEvents(pod)
	}
	s.after = finish(pod, status, now)
	if ended(pod, status) {
		s.words = fmt.Sprintf("containers have ended: %s", status.Phase)
	}
	if !equality.Semantic.DeepEqual(*status, pod.Status) {
		s.status = status
	}
	return s
}

// start fills the status of a pod whose containers run.
func start(pod *corev1.Pod, status *corev1.PodStatus, ip, host string, now time.Time) {
	at := metav1.NewTime(now).Rfc3339Copy()
	status.StartTime = &at
	status.Phase = corev1.PodRunning
	status.HostIP, status.HostIPs = host, []corev1.HostIP{{IP: host}}
	if pod.Spec.HostNetwork {
		ip = host
	}
	status.PodIP, status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	status.InitContainerStatuses = nil
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			status.InitContainerStatuses = append(status.InitContainerStatuses, running(pod, c, at))
			continue
		}
		done := exited(pod, c, 0, at, at)
		done.Ready = true
		status.InitContainerStatuses = append(status.InitContainerStatuses, done)
	}
	status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, running(pod, c, at))
	}
	for _, t := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		setCondition(pod, status, t, corev1.ConditionTrue, "", at)
	}
}

// finish ends the containers whose command has run its time, and tells when the
// next one will.
func finish(pod *corev1.Pod, status *corev1.PodStatus, now time.Time) (after time.Duration) {
	done, failed := 0, false
	for i, c := range pod.Spec.Containers {
		if i >= len(status.ContainerStatuses) {
			return 0
		}
		cs := &status.ContainerStatuses[i]
		if t := cs.State.Terminated; t != nil {
			done++
			failed = failed || t.ExitCode != 0
			continue
		}
		code, takes, exits := exitOf(c)
		if !exits || cs.State.Running == nil || pod.Spec.RestartPolicy == corev1.RestartPolicyAlways {
			continue
		}
		began := cs.State.Running.StartedAt
		if left := began.Add(takes).Sub(now); left > 0 {
			after = soonest(after, left)
			continue
		}
		at := metav1.NewTime(now).Rfc3339Copy()
		if code != 0 && pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
			cs.RestartCount++
			cs.LastTerminationState = exited(pod, c, code, began, at).State
			cs.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(backOff(cs.RestartCount))).Rfc3339Copy()}}
			after = soonest(after, backOff(cs.RestartCount)+takes)
			continue
		}
		restarts := cs.RestartCount
		*cs = exited(pod, c, code, began, at)
		cs.RestartCount = restarts
		done++
		failed = failed || code != 0
	}
	if done == len(pod.Spec.Containers) && done > 0 {
		end(pod, status, failed, now)
	}
	return after
}

// end gives a pod whose containers have all ended its last phase.
func end(pod *corev1.Pod, status *corev1.PodStatus, failed bool, now time.Time) {
	at := metav1.NewTime(now).Rfc3339Copy()
	status.Phase = corev1.PodSucceeded
	reason := "PodCompleted"
	if failed {
		status.Phase, reason = corev1.PodFailed, "PodFailed"
	}
	setCondition(pod, status, corev1.PodReadyToStartContainers, corev1.ConditionFalse, "", at)
	if !failed {
		setCondition(pod, status, corev1.PodInitialized, corev1.ConditionTrue, reason, at)
	}
	setCondition(pod, status, corev1.PodReady, corev1.ConditionFalse, reason, at)
	setCondition(pod, status, corev1.ContainersReady, corev1.ConditionFalse, reason, at)
}

func ended(pod *corev1.Pod, status *corev1.PodStatus) bool {
	return status.Phase != pod.Status.Phase && (status.Phase == corev1.PodSucceeded || status.Phase == corev1.PodFailed)
}

// backOff is the time before the n-th restart: 10 s, doubled, at most 5 minutes.
func backOff(n int32) time.Duration {
	return min(10*time.Second<<min(n-1, 10), 5*time.Minute)
}

func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b < a {
		return b
	}
	return a
}

// terminate ends a pod that is being deleted. Simulated containers stop at once.
func terminate(pod *corev1.Pod, now time.Time) step {
	s := step{remove: true, words: "stop containers and remove the pod"}
	for _, c := range pod.Spec.Containers {
		s.events = append(s.events, event{corev1.EventTypeNormal, "Killing", "Stopping container " + c.Name})
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		s.events = nil
		return s
	}
	if len(pod.Finalizers) == 0 {
		return s // goes at once, nobody would see the status
	}
	status := pod.Status.DeepCopy()
	at := metav1.NewTime(now).Rfc3339Copy()
	for i := range status.ContainerStatuses {
		if r := status.ContainerStatuses[i].State.Running; r != nil && i < len(pod.Spec.Containers) {
			status.ContainerStatuses[i] = exited(pod, pod.Spec.Containers[i], 0, r.StartedAt, at)
		}
	}
	end(pod, status, false, now)
	s.status = status
	return s
}

func running(pod *corev1.Pod, c corev1.Container, at metav1.Time) corev1.ContainerStatus {
	started := true
	return corev1.ContainerStatus{
		Name: c.Name, Image: image(c.Image), ImageID: imageID(c.Image), ContainerID: containerID(pod, c, 0),
		Ready: true, Started: &started, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
	}
}

func exited(pod *corev1.Pod, c corev1.Container, code int32, from, to metav1.Time) corev1.ContainerStatus {
	started := false
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	id := containerID(pod, c, 0)
	return corev1.ContainerStatus{
		Name: c.Name, Image: image(c.Image), ImageID: imageID(c.Image), ContainerID: id, Started: &started,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: from, FinishedAt: to, ContainerID: id}},
	}
}

// image is the name with registry and tag, as a container runtime reports it.
func image(name string) string {
	if first, _, ok := strings.Cut(name, "/"); !ok {
		name = "docker.io/library/" + name
	} else if !strings.ContainsAny(first, ".:") && first != "localhost" {
		name = "docker.io/" + name
	}
	if last := name[strings.LastIndex(name, "/")+1:]; !strings.ContainsAny(last, ":@") {
		name += ":latest"
	}
	return name
}

func imageID(name string) string {
	sum := sha256.Sum256([]byte(image(name)))
	repository, _, _ := strings.Cut(image(name), "@")
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository = repository[:i]
	}
	return repository + "@sha256:" + hex.EncodeToString(sum[:])
}

func containerID(pod *corev1.Pod, c corev1.Container, restarts int32) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", pod.UID, c.Name, restarts))
	return "containerd://" + hex.EncodeToString(sum[:])
}

// setCondition sets a condition; its time changes only with its status.
func setCondition(pod *corev1.Pod, status *corev1.PodStatus, t corev1.PodConditionType, is corev1.ConditionStatus, reason string, at metav1.Time) {
	c := corev1.PodCondition{Type: t, Status: is, Reason: reason, LastTransitionTime: at, ObservedGeneration: pod.Generation}
	for i := range status.Conditions {
		if old := &status.Conditions[i]; old.Type == t {
			if old.Status == is {
				c.LastTransitionTime = old.LastTransitionTime
			}
			*old = c
			return
		}
	}
	status.Conditions = append(status.Conditions, c)
}

func startEvents(pod *corev1.Pod) []event {
	var out []event
	for _, c := range append(append([]corev1.Container(nil), pod.Spec.InitContainers...), pod.Spec.Containers...) {
		out = append(out,
			event{corev1.EventTypeNormal, "Pulled", fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", c.Image)},
			event{corev1.EventTypeNormal, "Created", "Container created"},
			event{corev1.EventTypeNormal, "Started", "Container started"},
		)
	}
	return out
}
