package fakelet

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// phaseOf derives the phase from the containers, as a kubelet does. A pod under
// deletion whose containers have stopped gets a final phase in any case.
func phaseOf(pod *corev1.Pod, status *corev1.PodStatus) corev1.PodPhase {
	if phase := initPhase(pod, status); phase != "" {
		return phase
	}
	var running, waiting, stopped, succeeded int
	for _, cs := range status.ContainerStatuses {
		switch last := cs.LastTerminationState.Terminated; {
		case cs.State.Running != nil:
			running++
		case cs.State.Terminated != nil:
			stopped++
			if cs.State.Terminated.ExitCode == 0 {
				succeeded++
			}
		case cs.State.Waiting != nil && last != nil:
			stopped++
		default:
			waiting++
		}
	}
	switch {
	case pod.DeletionTimestamp != nil && running == 0 && waiting == 0 && stopped > 0 && stopped == succeeded:
		return corev1.PodSucceeded
	case pod.DeletionTimestamp != nil && running == 0:
		return corev1.PodFailed
	case waiting > 0:
		return corev1.PodPending
	case running > 0 || stopped == 0 || slices.ContainsFunc(status.ContainerStatuses, func(cs corev1.ContainerStatus) bool { return cs.State.Waiting != nil }):
		return corev1.PodRunning
	case stopped == succeeded:
		return corev1.PodSucceeded
	default:
		return corev1.PodFailed
	}
}

// initPhase is the phase while init containers have not all succeeded, else "".
func initPhase(pod *corev1.Pod, status *corev1.PodStatus) corev1.PodPhase {
	if pod.DeletionTimestamp != nil || slices.ContainsFunc(status.ContainerStatuses, func(cs corev1.ContainerStatus) bool { return cs.ContainerID != "" }) {
		return ""
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		at := slices.IndexFunc(status.InitContainerStatuses, func(cs corev1.ContainerStatus) bool { return cs.Name == c.Name })
		if at < 0 {
			return corev1.PodPending
		}
		t := status.InitContainerStatuses[at].State.Terminated
		switch {
		case t != nil && t.ExitCode != 0 && !isSidecar(c):
			return corev1.PodFailed // it would wait otherwise
		case t == nil && !isSidecar(c):
			return corev1.PodPending
		}
	}
	return ""
}

// setConditions brings the kubelet's own conditions in line with phase and
// containers, in its order; those of others come first and stay as they are.
func setConditions(pod *corev1.Pod, status *corev1.PodStatus, at metav1.Time) {
	old := status.Conditions
	containersReady := containersReadyCondition(pod, status)
	own := []corev1.PodCondition{
		{Type: corev1.PodReadyToStartContainers, Status: truth(status.PodIP != "" && !ended(status.Phase))},
		initializedCondition(pod, status),
		readyCondition(pod, status, containersReady),
		containersReady,
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
	}
	status.Conditions = slices.DeleteFunc(slices.Clone(old), func(c corev1.PodCondition) bool {
		return slices.ContainsFunc(own, func(o corev1.PodCondition) bool { return o.Type == c.Type })
	})
	for _, c := range own {
		c.ObservedGeneration, c.LastTransitionTime = pod.Generation, at
		if i := slices.IndexFunc(old, func(o corev1.PodCondition) bool { return o.Type == c.Type }); i >= 0 && old[i].Status == c.Status {
			c.LastTransitionTime, c.LastProbeTime = old[i].LastTransitionTime, old[i].LastProbeTime
		}
		status.Conditions = append(status.Conditions, c)
	}
}

func initializedCondition(pod *corev1.Pod, status *corev1.PodStatus) corev1.PodCondition {
	c := corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}
	if status.Phase == corev1.PodSucceeded {
		c.Reason = "PodCompleted"
		return c
	}
	var incomplete []string
	for i := range pod.Spec.InitContainers {
		init := &pod.Spec.InitContainers[i]
		at := slices.IndexFunc(status.InitContainerStatuses, func(cs corev1.ContainerStatus) bool { return cs.Name == init.Name })
		if at < 0 || !initialized(init, &status.InitContainerStatuses[at]) {
			incomplete = append(incomplete, init.Name)
		}
	}
	if len(incomplete) > 0 {
		c.Status, c.Reason = corev1.ConditionFalse, "ContainersNotInitialized"
		c.Message = fmt.Sprintf("containers with incomplete status: %s", incomplete)
	}
	return c
}

// initialized is true for an init container that holds up no other.
func initialized(c *corev1.Container, cs *corev1.ContainerStatus) bool {
	if isSidecar(c) {
		return cs.ContainerID != ""
	}
	return done(cs)
}

func containersReadyCondition(pod *corev1.Pod, status *corev1.PodStatus) corev1.PodCondition {
	c := corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionFalse}
	switch status.Phase {
	case corev1.PodSucceeded:
		c.Reason = "PodCompleted"
		return c
	case corev1.PodFailed:
		c.Reason = "PodFailed"
		return c
	}
	unready := notReady(nil, pod.Spec.InitContainers, status.InitContainerStatuses, isSidecar)
	unready = notReady(unready, pod.Spec.Containers, status.ContainerStatuses, func(*corev1.Container) bool { return true })
	if len(unready) > 0 {
		c.Reason, c.Message = "ContainersNotReady", fmt.Sprintf("containers with unready status: %s", unready)
		return c
	}
	c.Status = corev1.ConditionTrue
	return c
}

// notReady appends the names of the counted containers that are not ready.
func notReady(names []string, containers []corev1.Container, statuses []corev1.ContainerStatus, counts func(*corev1.Container) bool) []string {
	for i := range containers {
		ready := slices.ContainsFunc(statuses, func(cs corev1.ContainerStatus) bool { return cs.Name == containers[i].Name && cs.Ready })
		if counts(&containers[i]) && !ready {
			names = append(names, containers[i].Name)
		}
	}
	return names
}

// readyCondition is ContainersReady and all readiness gates.
func readyCondition(pod *corev1.Pod, status *corev1.PodStatus, containersReady corev1.PodCondition) corev1.PodCondition {
	c := containersReady
	c.Type = corev1.PodReady
	if c.Status != corev1.ConditionTrue {
		return c
	}
	for _, gate := range pod.Spec.ReadinessGates {
		at := slices.IndexFunc(status.Conditions, func(o corev1.PodCondition) bool { return o.Type == gate.ConditionType })
		switch {
		case at < 0:
			c.Message = fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType)
		case status.Conditions[at].Status != corev1.ConditionTrue:
			c.Message = fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", gate.ConditionType, status.Conditions[at].Status)
		default:
			continue
		}
		c.Status, c.Reason = corev1.ConditionFalse, "ReadinessGatesNotReady"
		return c
	}
	return c
}

func truth(b bool) corev1.ConditionStatus {
	if b {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

func isTrue(status *corev1.PodStatus, t corev1.PodConditionType) bool {
	return slices.ContainsFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == t && c.Status == corev1.ConditionTrue })
}
