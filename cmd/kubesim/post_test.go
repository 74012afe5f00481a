package main

import (
	"bufio"
	"context"
	"strings"
	"testing"
	"time"
)

// TestPostFromStdin: what is refused is told in the API server's words, and
// keeps neither the others nor the cluster from running.
func TestPostFromStdin(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := kubesim(ctx, t, "up", "--store", "memory", "--data-dir", t.TempDir(), "--http", "127.0.0.1:0", "-f", "-")
	cmd.Stdin = strings.NewReader(`
apiVersion: v1
kind: Pod
metadata: {name: Wrong_Name}
spec: {containers: [{name: app, image: nginx}]}
---
apiVersion: v1
kind: Pod
metadata: {name: right}
spec: {containers: [{name: app, image: nginx}]}
`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"created":  "pod/right created",
		"runs":     "pod/right: Running on node-",
		"timeline": "created pods/right",
		"refusal":  `"Wrong_Name" is invalid: metadata.name: Invalid value`,
	}
	for lines := bufio.NewScanner(out); len(want) > 0 && lines.Scan(); {
		for what, text := range want {
			if strings.Contains(lines.Text(), text) {
				delete(want, what)
			}
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("the cluster did not stay up: %v", err)
	}
	_ = cmd.Wait() // it was killed
	if len(want) > 0 {
		t.Errorf("not seen: %v", want)
	}
}
