package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/sandbox"
)

// TestParts runs each part as a process of its own, joined by a kubeconfig, and
// takes a manifest to Running with kubectl.
func TestParts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	server := startProcess(t, "apiserver", "--data-dir", dir, "--http", "127.0.0.1:0")
	kubeconfig := sandbox.KubeconfigPath(dir)
	if info, err := os.Stat(kubeconfig); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig is %v (%v), want one that its owner alone can read", info, err)
	}
	for _, part := range []string{"controllers", "scheduler", "fakelet"} {
		startPart(t, part, "--kubeconfig", kubeconfig)
	}
	kubectl := func(want string, args ...string) {
		t.Helper()
		out, stderr, err := runKubesim(t, append([]string{"kubectl", "--kubeconfig", kubeconfig}, args...)...)
		if err != nil || !strings.Contains(out, want) {
			t.Fatalf("kubectl %v: %v, without %q:\n%s%s", args, err, want, out, stderr)
		}
	}
	kubectl("created", "create", "-f", filepath.Join(moduleRoot, "testdata", "web.yaml"))
	kubectl("successfully rolled out", "rollout", "status", "deployment/web", "--timeout", "30s")
	kubectl("3/3", "get", "deployment", "web")

	out, stderr, err := runKubesim(t, "trace", "deployment/web", "--server", server.url)
	if err != nil || !strings.Contains(out, "created replicasets/web-") || !strings.Contains(out, "bound pods/web-") {
		t.Errorf("trace: %v\n%s%s", err, out, stderr)
	}
}

// startPart runs a component until the end of the test, where it must end in
// good order when it is asked to.
func startPart(t *testing.T, args ...string) {
	t.Helper()
	p := &process{cmd: kubesim(context.Background(), t, args...), stderr: &lockedBuffer{}, ended: make(chan error, 1)}
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() {
		if took := p.interrupt(t); took > 2*time.Second {
			t.Errorf("%v took %s to end", args, took)
		}
	})
}
