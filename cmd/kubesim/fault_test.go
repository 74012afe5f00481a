package main

import (
	"strings"
	"testing"
)

// TestFault breaks links of a sandbox, lists and clears them, and reads the errors.
func TestFault(t *testing.T) {
	up := startProcess(t, "up", "--ephemeral", "--http", "127.0.0.1:0", "--https", "", "--nodes", "1")
	for _, step := range []struct{ command, want string }{
		{"", "No faults."},
		{"pause scheduler --for 30s", "fault 1: pause scheduler, for 30s"},
		{"answer 409 --verb update --rate 0.3", "fault 2: answer 409 --verb update --rate 0.3, for 1m0s"},
		{"list", "answer 409 --verb update --rate 0.3"},
		{"clear 1", "fault 1 (pause) cleared after 0 hits"},
		{"clear", "fault 2 (answer) cleared after 0 hits"},
		{"list", "No faults."},
	} {
		args := append([]string{"fault", "--server", up.url}, strings.Fields(step.command)...)
		if out, stderr, err := runKubesim(t, args...); err != nil || !strings.Contains(out, step.want) {
			t.Errorf("%q: %s%s, %v, want %s", step.command, out, stderr, err, step.want)
		}
	}
	for _, command := range []string{"pause nobody", "slow soon", "answer 418", "clear 77", "melt"} {
		args := append([]string{"fault", "--server", up.url}, strings.Fields(command)...)
		if out, _, err := runKubesim(t, args...); err == nil {
			t.Errorf("%q: %s, want an error", command, out)
		}
	}
}
