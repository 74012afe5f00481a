package fakelet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/fakelet/stage"
)

// Config says how to reach the API server and which nodes to play.
type Config struct {
	RESTConfig *rest.Config
	Clock      clock.WithTicker         // the real one if nil
	Tracer     oteltrace.TracerProvider // none if nil
	Logger     *slog.Logger             // slog.Default() if nil
	Registerer prometheus.Registerer    // none if nil

	// Gate is called before each step of a pod and may hold it up until the context
	// ends; nothing is held up if nil. The component is kubelet/NODE.
	Gate func(ctx context.Context, component, object string)
	// Silent tells which kubelets do nothing for now, as if stopped; none if nil.
	Silent func(node string) bool

	// Nodes is how many nodes are made at start: node-1 to node-N. Those that
	// exist already are kept as they are.
	Nodes int
	// Pools are more nodes to make at start, of other sizes.
	Pools []Pool
	// Stages say how pods and nodes live that they select, in place of what is built in.
	Stages stage.Stages
	// Delay is how long the containers of a pod take to be created.
	Delay time.Duration
	// Listener takes connections for all kubelets; nobody can call them if it is nil.
	Listener net.Listener
	// Address is where clients reach the Listener, written to the nodes as an
	// annotation; "" if they know by themselves.
	Address string
	// Workers is how many pods are written at once, 32 if 0.
	Workers int
}

func (c *Config) validate() error {
	switch {
	case c.RESTConfig == nil:
		return errors.New("fakelet: RESTConfig is required")
	case c.Nodes < 0 || c.Nodes > maxNodes:
		return fmt.Errorf("fakelet: Nodes is %d, must be 0 to %d", c.Nodes, maxNodes)
	case c.Delay < 0:
		return fmt.Errorf("fakelet: Delay is %s, must not be negative", c.Delay)
	case c.Workers < 0:
		return fmt.Errorf("fakelet: Workers is %d, must not be negative", c.Workers)
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Tracer == nil {
		c.Tracer = noop.NewTracerProvider()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Silent == nil {
		c.Silent = func(string) bool { return false }
	}
	if c.Workers == 0 {
		c.Workers = 32
	}
	return nil
}
