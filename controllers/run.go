package controllers

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"

	"github.com/kubesim/kubesim/controllers/runner"
)

const userAgent = "kube-controller-manager"

// Run runs the controllers until the context ends. It returns nil then, after
// all they started has ended, and an error when they can't start or lose the lead.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.validate(); err != nil {
		return err
	}
	cfg.setDefaults()
	m, err := newManager(cfg)
	if err != nil {
		return err
	}
	if cfg.LeaderElect {
		return m.lead(ctx, m.run)
	}
	return m.run(ctx)
}

// manager holds what the controllers share.
type manager struct {
	*clients // its own
	cfg      Config
	metrics  *runner.Metrics
	accounts map[string]*clients
}

func newManager(cfg Config) (*manager, error) {
	metrics, err := runner.NewMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	own, err := newClients(cfg.RESTConfig)
	if err != nil {
		return nil, err
	}
	return &manager{clients: own, cfg: cfg, metrics: metrics, accounts: map[string]*clients{}}, nil
}

// clientsOf are those of the ServiceAccount that a controller is.
func (m *manager) clientsOf(controller string) (*clients, error) {
	account := accountOf(controller)
	if m.cfg.As == nil || account == "" {
		return m.clients, nil
	}
	if known := m.accounts[account]; known != nil {
		return known, nil
	}
	c, err := newClients(m.cfg.As(account))
	if err != nil {
		return nil, err
	}
	c.mapper = m.mapper // what is served is the same for all
	m.accounts[account] = c
	return c, nil
}

// run is the start-up, in order.
func (m *manager) run(ctx context.Context) error {
	factory := informers.NewSharedInformerFactoryWithOptions(m.client, 0, informers.WithTransform(dropManagedFields))
	events := newEvents(m.client, m.cfg.Clock)
	defer events.Shutdown()

	runners, err := m.construct(factory, events)
	if err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	if factory.WaitForCacheSyncWithContext(ctx).Err == nil {
		m.cfg.Logger.Info("Started controllers", "controllers", len(runners))
	}
	// When the context ended first, the runners only end their queues.
	var running sync.WaitGroup
	for _, r := range runners {
		running.Go(func() { r.Run(ctx) })
	}
	running.Wait()
	return nil
}

func (m *manager) construct(factory informers.SharedInformerFactory, events *events) ([]*runner.Runner, error) {
	entries, err := selected(m.cfg.Controllers)
	if err != nil {
		return nil, err
	}
	runners := make([]*runner.Runner, len(entries))
	for i, e := range entries {
		c, err := m.clientsOf(e.name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
		controller, err := e.construct(runner.Env{
			Client: c.client, Metadata: c.metadata, Scales: c.scales, Mapper: c.mapper, RESTConfig: c.rest, Informers: factory, Events: events.recorder,
			Clock: m.cfg.Clock, Logger: m.cfg.Logger.With("controller", e.name), RootCA: m.cfg.RootCA,
			TokenKey: m.cfg.TokenKey, Authority: m.cfg.Authority,
			ClusterCIDR: m.cfg.ClusterCIDR,
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
		if controller.Workers == 0 {
			controller.Workers = m.cfg.ConcurrentSyncs
		}
		runners[i], err = runner.New(controller, runner.Config{Clock: m.cfg.Clock, Tracer: m.cfg.Tracer, Logger: m.cfg.Logger, Metrics: m.metrics, Gate: m.cfg.Gate})
		if err != nil {
			return nil, err
		}
	}
	return runners, nil
}

// dropManagedFields keeps out of memory what no controller looks at.
func dropManagedFields(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return obj, nil
}
