package compat

import (
	"context"
	"testing"
	"time"

	"github.com/kubesim/kubesim/sandbox"
)

// start makes a cluster of two nodes on a port of its own.
func start(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Start(t.Context(), sandbox.Config{Nodes: 2, HTTP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// eventually asks until the answer is yes or the context ends.
func eventually(ctx context.Context, t *testing.T, what string, is func() (bool, error)) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := is()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s: %v", what, err)
		}
	}
}
