package fakelet

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestBackOff(t *testing.T) {
	short := &corev1.ContainerStateTerminated{}
	for n, want := range []time.Duration{0, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute, 5 * time.Minute} {
		if got := backOff(int32(n), short); got != want {
			t.Errorf("after %d restarts: %s, want %s", n, got, want)
		}
	}
	if got := backOff(1000, short); got != 5*time.Minute {
		t.Errorf("after 1000 restarts: %s", got)
	}
}

func TestRestartRules(t *testing.T) {
	never := corev1.ContainerRestartPolicyNever
	rule := corev1.ContainerRestartRule{
		Action:    corev1.ContainerRestartRuleActionRestart,
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
	}
	tests := []struct {
		name   string
		policy corev1.RestartPolicy
		c      corev1.Container
		code   int32
		want   bool
	}{
		{"the pod's policy", corev1.RestartPolicyAlways, corev1.Container{Name: "c"}, 0, true},
		{"on failure, success", corev1.RestartPolicyOnFailure, corev1.Container{Name: "c"}, 0, false},
		{"on failure, failure", corev1.RestartPolicyOnFailure, corev1.Container{Name: "c"}, 1, true},
		{"an init container that succeeded", corev1.RestartPolicyAlways, corev1.Container{Name: "init"}, 0, false},
		{"an init container that failed", corev1.RestartPolicyAlways, corev1.Container{Name: "init"}, 1, true},
		{"the container's policy", corev1.RestartPolicyAlways, corev1.Container{Name: "c", RestartPolicy: &never}, 1, false},
		{"a rule that fits", corev1.RestartPolicyAlways, corev1.Container{Name: "c", RestartPolicy: &never, RestartPolicyRules: []corev1.ContainerRestartRule{rule}}, 42, true},
		{"a rule that does not", corev1.RestartPolicyAlways, corev1.Container{Name: "c", RestartPolicy: &never, RestartPolicyRules: []corev1.ContainerRestartRule{rule}}, 1, false},
	}
	for _, tt := range tests {
		p := pod(func(p *corev1.Pod) {
			p.Spec.RestartPolicy = tt.policy
			p.Spec.InitContainers = []corev1.Container{{Name: "init"}}
		})
		if got := restarts(p, &tt.c, tt.code); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
