package lesson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/fakelet/runtime"
	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/sandbox/simclock"
)

// stepLimit is how long the commands of one step may take.
const stepLimit = 2 * time.Minute

// maxOutput bounds what is kept of what they print.
const maxOutput = 1 << 20

// Session is a lesson's cluster, and the shell in front of it.
type Session struct {
	cluster *sandbox.Sandbox
	shell   *runtime.Container
	clock   *simclock.Clock
}

// StartSession makes the cluster that a lesson begins with.
func StartSession(ctx context.Context, start Start) (*Session, error) {
	s := &Session{clock: simclock.New(1)}
	var err error
	s.cluster, err = sandbox.Start(ctx, sandbox.Config{
		Nodes: start.Nodes, Controllers: start.Controllers, HTTP: "127.0.0.1:0", Clock: s.clock,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		return nil, err
	}
	if err := s.cluster.WaitReady(ctx); err != nil {
		return nil, errors.Join(err, s.cluster.Close())
	}
	if start.Paused {
		s.clock.Pause()
	}
	s.shell = runtime.New(clock.RealClock{}).Container(runtime.Spec{
		Plan:  runtime.PlanOf(runtime.Request{Image: "docker.io/library/alpine:3", Command: []string{"sleep", "infinity"}}),
		Image: "alpine", Hostname: "lesson", Dir: "/root", CPUs: 8, Network: network{strings.TrimPrefix(s.cluster.URL(), "http://")},
		Env: map[string]string{"HOME": "/root", "PATH": "/usr/local/bin:/usr/bin:/bin"},
		// By a socket, as a reader's own do: what waits for an answer in this process
		// would count as work that the clock has to wait for.
		Programs: programs(&rest.Config{Host: s.cluster.URL(), QPS: -1}), Started: time.Now(),
	}, func() {})
	return s, nil
}

// URL is where the cluster's API and its page are served.
func (s *Session) URL() string { return s.cluster.URL() }

// Close ends the cluster.
func (s *Session) Close() error {
	s.shell.Close(runtime.Result{})
	return s.cluster.Close()
}

// Run runs the commands of a step. It returns what they printed, which is also
// written to out as it comes, and an error if they took too long.
func (s *Session) Run(ctx context.Context, script string, out io.Writer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	kept := &limited{}
	both := io.MultiWriter(out, kept)
	_, err := s.shell.Exec(ctx, runtime.Command{Args: []string{"sh", "-c", script}, Stdout: both, Stderr: both})
	if err == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("not done within %v", stepLimit)
	}
	if err == nil {
		err = ctx.Err()
	}
	return kept.String(), err
}

// limited keeps the beginning of what is written.
type limited struct{ bytes.Buffer }

func (l *limited) Write(b []byte) (int, error) {
	_, _ = l.Buffer.Write(b[:min(len(b), maxOutput-l.Len())])
	return len(b), nil
}

// network leads to the cluster's API and nowhere else, by the addresses that a
// reader's own curl would use.
type network struct{ address string }

var errUnreachable = errors.New("a lesson reaches http://127.0.0.1:8080 and nothing else")

func (n network) LookupHost(_ context.Context, host string) ([]string, error) {
	if host == "localhost" || host == "127.0.0.1" {
		return []string{"127.0.0.1"}, nil
	}
	return nil, errUnreachable
}

func (n network) Dial(ctx context.Context, host string, port int) (net.Conn, error) {
	if _, err := n.LookupHost(ctx, host); err != nil || port != 8080 {
		return nil, errUnreachable
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", n.address)
}

func (n network) Listen(int) (net.Listener, error) { return nil, errUnreachable }

func (n network) Addresses() []string { return nil }
