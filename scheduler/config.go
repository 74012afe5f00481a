package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"

	"github.com/prometheus/client_golang/prometheus"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/client-go/rest"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/scheduler/configuration"
)

// Config of a scheduler. RESTConfig is required.
type Config struct {
	RESTConfig *rest.Config
	Clock      clock.WithTicker         // the real one if nil
	Tracer     oteltrace.TracerProvider // none if nil
	Logger     *slog.Logger             // slog.Default() if nil
	Registerer prometheus.Registerer    // no metrics if nil

	// Gate is called before each attempt to place a pod and may hold it up until the
	// context ends; nothing is held up if nil.
	Gate func(ctx context.Context, component, object string)

	// Configuration has the profiles, as package configuration reads them; the
	// default one if nil. Pods of other schedulers are left alone.
	Configuration *configv1.KubeSchedulerConfiguration
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
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Tracer == nil {
		c.Tracer = noop.NewTracerProvider()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Configuration == nil {
		c.Configuration = configuration.Default()
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	if c.Workers == 0 {
		c.Workers = 16
	}
	return nil
}
