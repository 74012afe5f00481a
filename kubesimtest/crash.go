package kubesimtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// maxCrashPoints bounds the writes of a scenario.
const maxCrashPoints = 200

// Operator is what is tested: it works with config until the context ends.
type Operator func(ctx context.Context, config *rest.Config) error

// ErrCrashed is the error of every request of an operator that has crashed.
var ErrCrashed = errors.New("kubesimtest: crashed")

// ForEachCrashPoint runs scenario in a new cluster beside the operator, then again
// and again: with an operator that crashes after its first write, after its second
// and so on, until it makes fewer. Each time the operator is started anew at once,
// as a Deployment would, and the scenario must come to the same result. The operator
// ends when the scenario returns.
//
// A crash is what a process that is killed looks like from outside: the write
// happened, its answer never came, and nothing that was to follow does.
func ForEachCrashPoint(t *testing.T, o Options, operator Operator, scenario func(t *testing.T, c *Cluster)) {
	t.Helper()
	for k := 1; ; k++ {
		if k > maxCrashPoints {
			t.Fatalf("the operator makes more than %d writes", maxCrashPoints)
		}
		reached := false
		passed := t.Run(fmt.Sprintf("after write %d", k), func(t *testing.T) {
			reached = crashAfter(t, Start(t, o), k, operator, scenario)
		})
		if !passed || !reached {
			return
		}
	}
}

// crashAfter runs the scenario with an operator that crashes once, and tells
// whether it came to that.
func crashAfter(t *testing.T, c *Cluster, k int, operator Operator, scenario func(*testing.T, *Cluster)) (reached bool) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	crash := &crashing{left: k}
	running.Go(func() {
		life, end := context.WithCancel(ctx)
		crash.end = end
		config := c.Config()
		config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
			crash.next = rt
			return crash
		})
		err := operator(life, config)
		end()
		if ctx.Err() == nil && !crash.happened() {
			t.Errorf("the operator ended by itself: %v", err)
			return
		}
		if ctx.Err() == nil {
			if err := operator(ctx, c.Config()); err != nil && ctx.Err() == nil {
				t.Errorf("the operator ended after its crash: %v", err)
			}
		}
	})
	scenario(t, c)
	return crash.happened()
}

// crashing is a transport that lets so many writes through.
type crashing struct {
	next http.RoundTripper
	end  context.CancelFunc // of the operator's life

	mu   sync.Mutex
	left int
}

func (c *crashing) happened() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left == 0
}

// RoundTrip implements http.RoundTripper.
func (c *crashing) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.happened() {
		return nil, ErrCrashed
	}
	response, err := c.next.RoundTrip(r)
	if err != nil || r.Method == http.MethodGet || r.Method == http.MethodHead || response.StatusCode >= http.StatusBadRequest {
		return response, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 { // another write was the last one
		_ = response.Body.Close()
		return nil, ErrCrashed
	}
	if c.left--; c.left > 0 {
		return response, nil
	}
	_ = response.Body.Close()
	c.end()
	return nil, ErrCrashed
}
