package scheduler

import (
	"errors"
	"log/slog"
	"math/rand/v2"

	"github.com/prometheus/client_golang/prometheus"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// Config of a scheduler. RESTConfig is required.
type Config struct {
	RESTConfig *rest.Config
	Clock      clock.WithTicker         // the real one if nil
	Tracer     oteltrace.TracerProvider // none if nil
	Logger     *slog.Logger             // slog.Default() if nil
	Registerer prometheus.Registerer    // no metrics if nil

	// Name is the spec.schedulerName of the pods to place: default-scheduler if
	// empty. All others are left alone.
	Name string
	// PercentageOfNodesToScore ends the search once that share of the nodes was found
	// feasible. 0 means 50 % of 100 nodes falling to 5 % of 5000, and never
	// fewer than 100 nodes.
	PercentageOfNodesToScore int
	// Seed decides which of the best nodes is taken; random if 0.
	Seed uint64
	// Workers bounds the requests under way at the same time: 16 if 0.
	Workers int
	// LeaderElect makes this scheduler wait until it holds the Lease
	// kube-system/kube-scheduler, under the name of Identity (the host name and a random suffix if empty).
	LeaderElect bool
	Identity    string
}

func (c *Config) validate() error {
	if c.RESTConfig == nil {
		return errors.New("scheduler: no RESTConfig")
	}
	if c.PercentageOfNodesToScore < 0 || c.PercentageOfNodesToScore > 100 {
		return errors.New("scheduler: PercentageOfNodesToScore is not between 0 and 100")
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
	if c.Name == "" {
		c.Name = v1.DefaultSchedulerName
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	if c.Workers == 0 {
		c.Workers = 16
	}
	return nil
}
