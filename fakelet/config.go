package fakelet

import (
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// Config says how to reach the API server and which nodes to play.
type Config struct {
	RESTConfig *rest.Config
	Clock      clock.WithTicker
	Tracer     oteltrace.TracerProvider
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Nodes is how many nodes are made: node-1 to node-N.
	Nodes int
	// Workers is how many pods are written at once, 32 if 0.
	Workers int
}

func (c *Config) validate() error {
	if c.RESTConfig == nil {
		return errors.New("fakelet: a REST config is required")
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
	if c.Workers == 0 {
		c.Workers = 32
	}
	return nil
}
