package controllers

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"

	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/trace"
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
	cfg      Config
	client   kubernetes.Interface
	metadata metadata.Interface
	scales   scale.ScalesGetter
	mapper   meta.ResettableRESTMapper
	rest     *rest.Config
	metrics  *runner.Metrics
}

func newManager(cfg Config) (*manager, error) {
	metrics, err := runner.NewMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	rc := rest.CopyConfig(cfg.RESTConfig)
	rc.UserAgent = userAgent
	if rc.QPS == 0 {
		rc.QPS = -1 // the server is next door
	}
	rc.WarningHandler = rest.NoWarnings{} // such as that Endpoints are deprecated, at each write
	rc.Wrap(trace.Transport)
	client, err := kubernetes.NewForConfig(rc)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	objects, err := metadata.NewForConfig(rc)
	if err != nil {
		return nil, fmt.Errorf("metadata client: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	scales, err := scale.NewForConfig(rc, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, fmt.Errorf("scale client: %w", err)
	}
	return &manager{cfg: cfg, client: client, metadata: objects, scales: scales, mapper: mapper, rest: rc, metrics: metrics}, nil
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
		controller, err := e.construct(runner.Env{
			Client: m.client, Metadata: m.metadata, Scales: m.scales, Mapper: m.mapper, RESTConfig: m.rest, Informers: factory, Events: events.recorder,
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
		runners[i], err = runner.New(controller, runner.Config{Clock: m.cfg.Clock, Tracer: m.cfg.Tracer, Logger: m.cfg.Logger, Metrics: m.metrics})
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
