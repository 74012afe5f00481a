package garbagecollector

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

const (
	// discoveryPeriod is how often new and withdrawn resources are looked for.
	discoveryPeriod = 30 * time.Second
	// syncTimeout bounds the wait for new monitors: a resource that can't be
	// listed must not stop all garbage collection.
	syncTimeout = 30 * time.Second
	syncPoll    = 20 * time.Millisecond
)

// monitors runs one metadata informer a resource, all feeding one graph.
type monitors struct {
	client    metadata.Interface
	clock     clock.WithTicker
	logger    *slog.Logger
	resources *resources
	graph     *graph
	running   map[schema.GroupVersionResource]*monitor
	synced    atomic.Bool
}

type monitor struct {
	cancel    context.CancelFunc
	hasSynced cache.InformerSynced
}

// run follows discovery until the context ends, and returns when all monitors have.
func (m *monitors) run(ctx context.Context, look func([]types.UID)) {
	var informers sync.WaitGroup
	defer informers.Wait()
	ticker := m.clock.NewTicker(discoveryPeriod)
	defer ticker.Stop()
	for {
		m.update(ctx, &informers, look)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// update starts the monitors of new resources and ends those of withdrawn ones.
func (m *monitors) update(ctx context.Context, informers *sync.WaitGroup, look func([]types.UID)) {
	wanted, err := m.resources.discover()
	if err != nil {
		m.logger.Warn("Failed to discover all resources", "err", err)
	}
	for resource, old := range m.running {
		// A group that could not be asked is not withdrawn.
		if _, still := wanted[resource]; !still && err == nil {
			old.cancel()
			delete(m.running, resource)
		}
	}
	started := false
	for resource, kind := range wanted {
		if m.running[resource] == nil {
			m.running[resource] = m.start(ctx, informers, resource, kind, look)
			started = true
		}
	}
	if started {
		m.synced.Store(false)
		m.wait(ctx)
	}
	if len(m.running) > 0 {
		m.synced.Store(true)
	}
}

func (m *monitors) start(ctx context.Context, informers *sync.WaitGroup, resource schema.GroupVersionResource, kind schema.GroupVersionKind, look func([]types.UID)) *monitor {
	ctx, cancel := context.WithCancel(ctx)
	informer := metadatainformer.NewFilteredMetadataInformer(m.client, resource, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	// Neither call fails before the informer runs.
	_ = informer.SetTransform(strip)
	registration, _ := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { look(m.graph.observe(newItem(kind, obj.(metav1.Object)))) },
		UpdateFunc: func(_, obj any) { look(m.graph.observe(newItem(kind, obj.(metav1.Object)))) },
		DeleteFunc: func(obj any) {
			if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = missed.Obj
			}
			look(m.graph.forget(obj.(metav1.Object).GetUID()))
		},
	})
	informers.Go(func() { informer.RunWithContext(ctx) })
	return &monitor{cancel: cancel, hasSynced: registration.HasSynced}
}

// strip keeps what the graph needs.
func strip(obj any) (any, error) {
	if object, ok := obj.(*metav1.PartialObjectMetadata); ok {
		object.ManagedFields, object.Labels, object.Annotations = nil, nil, nil
	}
	return obj, nil
}

// wait returns when all monitors know what there is, or are late.
func (m *monitors) wait(ctx context.Context) {
	deadline := m.clock.Now().Add(syncTimeout)
	for !m.allSynced() && m.clock.Now().Before(deadline) {
		select {
		case <-ctx.Done():
			return
		case <-m.clock.After(syncPoll):
		}
	}
}

func (m *monitors) allSynced() bool {
	for _, one := range m.running {
		if !one.hasSynced() {
			return false
		}
	}
	return true
}
