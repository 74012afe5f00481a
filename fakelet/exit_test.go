package fakelet

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestExitOf(t *testing.T) {
	tests := []struct {
		command []string
		code    int32
		after   time.Duration
		exits   bool
	}{
		{nil, 0, 0, false},
		{[]string{"nginx", "-g", "daemon off;"}, 0, 0, false},
		{[]string{"true"}, 0, 0, true},
		{[]string{"/bin/false"}, 1, 0, true},
		{[]string{"echo", "hello"}, 0, 0, true},
		{[]string{"perl", "-Mbignum=bpi", "-wle", "print bpi(2000)"}, 0, 0, true},
		{[]string{"sleep", "5"}, 0, 5 * time.Second, true},
		{[]string{"sleep", "1.5"}, 0, 1500 * time.Millisecond, true},
		{[]string{"/bin/sleep", "1d"}, 0, 24 * time.Hour, true},
		{[]string{"sleep", "infinity"}, 0, 0, false},
		{[]string{"sleep"}, 1, 0, true},
		{[]string{"sh"}, 0, 0, false},
		{[]string{"sh", "-c", "exit 0"}, 0, 0, true},
		{[]string{"sh", "-c", "exit 42"}, 42, 0, true},
		{[]string{"bash", "-ec", "echo work; sleep 3; exit 1"}, 1, 3 * time.Second, true},
		{[]string{"/bin/sh", "-c", "sleep 1 && sleep 2m"}, 0, 2*time.Minute + time.Second, true},
		{[]string{"sh", "-c", "echo hi && false"}, 1, 0, true},
		{[]string{"sh", "-c", "while true; do echo hi; sleep 1; done"}, 0, 0, false},
		{[]string{"sh", "-c", "export; trap 'exit 0' TERM; sleep 9999 & wait"}, 0, 0, false},
		{[]string{"sh", "-c", "tail -f /dev/null"}, 0, 0, false},
	}
	for _, tt := range tests {
		code, after, exits := exitOf(&corev1.Container{Command: tt.command})
		if code != tt.code || after != tt.after || exits != tt.exits {
			t.Errorf("exitOf(%q) = %d, %s, %t; want %d, %s, %t", tt.command, code, after, exits, tt.code, tt.after, tt.exits)
		}
	}
}

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
