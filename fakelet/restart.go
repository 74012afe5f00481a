package fakelet

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 5 * time.Minute
)

// backOff is the pause before a container that was restarted n times starts
// again: none, then 10 s, doubled up to 5 minutes. A run of twice the maximum
// counts as healthy, and the next restart as the first.
func backOff(n int32, last *corev1.ContainerStateTerminated) time.Duration {
	if n == 0 || last.FinishedAt.Sub(last.StartedAt.Time) >= 2*maxBackOff {
		return 0
	}
	return min(firstBackOff<<min(n-1, 10), maxBackOff)
}

// restarts is true when a container that ended with the code must start again:
// by its first rule that fits, its own policy, or the pod's (KEP-5307).
func restarts(pod *corev1.Pod, c *corev1.Container, code int32) bool {
	for _, rule := range c.RestartPolicyRules {
		if rule.ExitCodes == nil {
			continue
		}
		listed := slices.Contains(rule.ExitCodes.Values, code)
		if listed == (rule.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn) {
			return rule.Action == corev1.ContainerRestartRuleActionRestart
		}
	}
	switch policyOf(pod, c) {
	case corev1.RestartPolicyAlways:
		return true
	case corev1.RestartPolicyOnFailure:
		return code != 0
	default:
		return false
	}
}

// policyOf is a container's restart policy. An init container of a pod that is
// always restarted is tried again only when it failed.
func policyOf(pod *corev1.Pod, c *corev1.Container) corev1.RestartPolicy {
	if c.RestartPolicy != nil {
		return corev1.RestartPolicy(*c.RestartPolicy)
	}
	isInit := slices.ContainsFunc(pod.Spec.InitContainers, func(i corev1.Container) bool { return i.Name == c.Name })
	if isInit && pod.Spec.RestartPolicy == corev1.RestartPolicyAlways {
		return corev1.RestartPolicyOnFailure
	}
	return pod.Spec.RestartPolicy
}
