package printers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podSummary is what kubectl get shows of a pod's containers.
type podSummary struct {
	status       string
	ready, total int
	restarts     int
	lastRestart  metav1.Time
	// initializing is true while an init container keeps the others from starting.
	initializing bool
}

// summarize finds the one word that says best how a pod fares: what holds it
// up, from its phase over its init containers to its containers, and last
// whether it is being deleted.
func summarize(pod *corev1.Pod) podSummary {
	s := podSummary{status: string(pod.Status.Phase), total: len(pod.Spec.Containers)}
	if pod.Status.Reason != "" {
		s.status = pod.Status.Reason
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			s.status = corev1.PodReasonSchedulingGated
		}
	}
	sidecars := s.initContainers(pod)
	if !s.initializing || conditionIs(pod, corev1.PodInitialized, corev1.ConditionTrue) {
		// The restarts of init containers that have done their work count no more.
		s.restarts, s.lastRestart = sidecars.restarts, sidecars.lastRestart
		s.containers(pod)
	}
	if pod.DeletionTimestamp != nil {
		switch {
		case pod.Status.Reason == nodeLost:
			s.status = "Unknown"
		case pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed:
			s.status = "Terminating"
		}
	}
	return s
}

// count adds the restarts of a container.
func (s *podSummary) count(c *corev1.ContainerStatus) {
	s.restarts += int(c.RestartCount)
	if t := c.LastTerminationState.Terminated; t != nil && s.lastRestart.Before(&t.FinishedAt) {
		s.lastRestart = t.FinishedAt
	}
}

// initContainers looks at the init containers up to the first that is not
// through. It returns the restarts of those among them that run beside the
// containers, the sidecars.
func (s *podSummary) initContainers(pod *corev1.Pod) (sidecars podSummary) {
	restartable := map[string]bool{}
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			restartable[c.Name] = true
			s.total++
		}
	}
	for i := range pod.Status.InitContainerStatuses {
		c := &pod.Status.InitContainerStatuses[i]
		s.count(c)
		if restartable[c.Name] {
			sidecars.count(c)
		}
		if t := c.State.Terminated; t != nil && t.ExitCode == 0 {
			continue
		}
		if restartable[c.Name] && c.Started != nil && *c.Started {
			if c.Ready {
				s.ready++
			}
			continue
		}
		s.status = "Init:" + initStatus(c, i, len(pod.Spec.InitContainers))
		s.initializing = true
		break
	}
	return sidecars
}

// initStatus says what keeps an init container from being through.
func initStatus(c *corev1.ContainerStatus, done, of int) string {
	switch {
	case c.State.Terminated != nil:
		return ended(c.State.Terminated)
	case c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.State.Waiting.Reason != "PodInitializing":
		return c.State.Waiting.Reason
	}
	return fmt.Sprintf("%d/%d", done, of)
}

// ended says why a container ended.
func ended(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

// containers looks at the containers; the first one has the last word.
func (s *podSummary) containers(pod *corev1.Pod) {
	running, failure := false, ""
	for i := len(pod.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := &pod.Status.ContainerStatuses[i]
		s.count(c)
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			s.status = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			s.status = ended(c.State.Terminated)
			if c.State.Terminated.ExitCode != 0 {
				failure = s.status
			}
		case c.Ready && c.State.Running != nil:
			running = true
			s.ready++
		}
	}
	if s.status != "Completed" {
		return
	}
	// One container that has completed does not make a completed pod.
	switch {
	case running && conditionIs(pod, corev1.PodReady, corev1.ConditionTrue):
		s.status = "Running"
	case failure != "":
		s.status = failure
	case running:
		s.status = "NotReady"
	}
}
