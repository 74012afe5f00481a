package scheduler

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	oteltrace "go.opentelemetry.io/otel/trace"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/scheduler/cache"
	"github.com/kubesim/kubesim/scheduler/extender"
	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/queue"
	"github.com/kubesim/kubesim/trace"
)

// component is the scheduler's name in the trace.
const component = "scheduler"

type scheduler struct {
	Config
	client  kubernetes.Interface
	tracer  oteltrace.Tracer
	metrics *metrics

	pods       corelisters.PodLister
	profiles   map[string]*profileOf // by spec.schedulerName
	extenders  []*extender.Extender
	binding    *cancels
	queue      *queue.Queue
	cache      *cache.Cache
	budgets    policylisters.PodDisruptionBudgetLister
	nominated  *nominations
	preempting *preemptions
	events     *events
	workers    *workers

	// Of the scheduling loop alone.
	snapshot *framework.Snapshot
	rand     *rand.Rand
	next     int // where the next search for feasible nodes begins
}

// Run schedules pods until ctx is done. It returns when all that it started
// has ended.
func Run(ctx context.Context, config Config) error {
	if err := config.validate(); err != nil {
		return err
	}
	rc := rest.CopyConfig(config.RESTConfig)
	rc.UserAgent = "kubesim-scheduler"
	limit(rc, config.Configuration.ClientConnection.QPS, config.Configuration.ClientConnection.Burst)
	rc.Wrap(trace.Transport)
	client, err := kubernetes.NewForConfig(rc)
	if err != nil {
		return fmt.Errorf("scheduler: making a client: %w", err)
	}
	lead := func(ctx context.Context) error { return run(ctx, config, client) }
	if config.LeaderElect {
		return elect(ctx, config, client, lead)
	}
	return lead(ctx)
}

// run is Run once this scheduler is the leader.
func run(ctx context.Context, config Config, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(strip))
	s, err := newScheduler(config, client, factory)
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	synced, err := s.watch(factory)
	if err != nil {
		return fmt.Errorf("scheduler: adding event handlers: %w", err)
	}

	ctx, stop := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer s.workers.wait()
	defer stop() // first, for the others wait
	factory.StartWithContext(ctx)
	if !toolscache.WaitFor(ctx, "", synced...) {
		return nil
	}
	s.workers.start(ctx)
	s.Logger.Info("Started scheduler", "profiles", slices.Sorted(maps.Keys(s.profiles)))
	s.loop(ctx)
	return nil
}

func newScheduler(config Config, client kubernetes.Interface, factory informers.SharedInformerFactory) (*scheduler, error) {
	profiles, err := newProfiles(config, handle(config, client, factory))
	if err != nil {
		return nil, err
	}
	extenders, err := extender.New(config.Configuration.Extenders)
	if err != nil {
		return nil, err
	}
	s := &scheduler{
		Config:     config,
		client:     client,
		tracer:     config.Tracer.Tracer(component),
		pods:       podLister(factory),
		profiles:   profiles,
		extenders:  extenders,
		binding:    newCancels(),
		queue:      queue.New(queueConfig(config, profiles)),
		cache:      cache.New(),
		budgets:    factory.Policy().V1().PodDisruptionBudgets().Lister(),
		nominated:  newNominations(),
		preempting: newPreemptions(),
		events:     newEvents(client, config),
		workers:    newWorkers(config.Workers),
		snapshot:   framework.NewSnapshot(),
		rand:       rand.New(rand.NewPCG(config.Seed, config.Seed)),
	}
	s.metrics = newMetrics(config.Registerer, s.queue)
	return s, nil
}

// loop schedules one pod after another.
func (s *scheduler) loop(ctx context.Context) {
	for {
		p, err := s.queue.Pop(ctx)
		if err != nil {
			return
		}
		if s.Gate != nil {
			s.Gate(ctx, component, trace.ObjectName("pods", "", p.Info.Pod.Namespace, p.Info.Pod.Name))
		}
		s.scheduleOne(ctx, p)
	}
}
