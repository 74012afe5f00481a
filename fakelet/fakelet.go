package fakelet

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/fakelet/runtime"
	"github.com/kubesim/kubesim/fakelet/server"
	"github.com/kubesim/kubesim/trace"
)

const (
	// byNode is the index of pods by the node they are bound to.
	byNode = "spec.nodeName"
	// byIP is that by their address.
	byIP = "status.podIP"
	// nodeWorkers is how many nodes are written at once.
	nodeWorkers = 16
)

// fakelet is one process that plays all nodes.
type fakelet struct {
	cfg                       Config
	factory                   informers.SharedInformerFactory
	nodeInformer, podInformer cache.SharedIndexInformer
	recorder                  *recorder
	nodes                     *nodes
	pods                      *pods
	runs                      *runs
	nodeWorker, podWorker     *worker
}

// Run plays the nodes until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.validate(); err != nil {
		return err
	}
	f, err := newFakelet(cfg)
	if err != nil {
		return fmt.Errorf("fakelet: %w", err)
	}
	return f.run(ctx)
}

func newFakelet(cfg Config) (*fakelet, error) {
	config := rest.CopyConfig(cfg.RESTConfig)
	config.UserAgent = "kubelet"
	config.Wrap(trace.Transport)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	f := &fakelet{cfg: cfg, recorder: newRecorder(client, cfg.Clock, cfg.Logger)}
	f.factory = informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(dropManagedFields))
	nodeInformer := f.factory.Core().V1().Nodes()
	podInformer := f.factory.InformerFor(&corev1.Pod{}, newBoundPodInformer)
	f.nodeInformer, f.podInformer = nodeInformer.Informer(), podInformer

	life := &lifeCycle{stages: cfg.Stages, clock: cfg.Clock, started: cfg.Clock.Now(), known: map[types.UID]staging{}}
	f.nodes = &nodes{
		life:   life,
		client: client, lister: nodeInformer.Lister(), clock: cfg.Clock, recorder: f.recorder,
		hosts: newAddresses(), podCIDRs: newPodCIDRs(), missing: map[string]*corev1.Node{}, played: map[string]*playedNode{},
		address: cfg.Address, silent: cfg.Silent,
	}
	f.podWorker = newWorker("pod", cfg.Clock, cfg.Logger, nil)
	env := environment{client: client, nodes: f.nodes}
	f.runs = &runs{
		runtime: runtime.New(cfg.Clock), clock: cfg.Clock, log: cfg.Logger, pods: map[types.UID]*podRun{}, wake: f.podWorker.queue.Add,
		volumes: &volumes{environment: env, clock: cfg.Clock},
	}
	f.runs.network = &network{client: client, nodes: f.nodes, runs: f.runs, byIP: f.indexed(byIP)}
	f.pods = &pods{
		client: client, lister: f.factory.Core().V1().Pods().Lister(), clock: cfg.Clock, log: cfg.Logger,
		tracer: cfg.Tracer.Tracer("fakelet"), recorder: f.recorder, nodes: f.nodes, ips: newAddresses(),
		delay: cfg.Delay, last: map[types.UID]write{}, memory: map[types.UID]memory{}, refresh: map[types.UID]bool{}, evicted: map[types.UID]string{},
		runs: f.runs, byNode: f.indexed(byNode), life: life, gate: cfg.Gate,
	}
	f.nodeWorker = newWorker("node", cfg.Clock, cfg.Logger, f.syncNode)
	f.podWorker.sync = f.pods.sync
	return f, registerMetrics(f)
}

// newBoundPodInformer watches the pods that have a node: one watch for all kubelets.
func newBoundPodInformer(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
	indexers := cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		byNode:               func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
		byIP: func(obj any) ([]string, error) {
			pod := obj.(*corev1.Pod)
			if pod.Status.PodIP == "" || ended(pod.Status.Phase) {
				return nil, nil
			}
			return []string{pod.Status.PodIP}, nil
		},
	}
	return coreinformers.NewFilteredPodInformer(client, metav1.NamespaceAll, resync, indexers, func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "").String()
	})
}

// indexed looks pods up by an index.
func (f *fakelet) indexed(name string) func(value string) []*corev1.Pod {
	return func(value string) []*corev1.Pod {
		objs, err := f.podInformer.GetIndexer().ByIndex(name, value)
		if err != nil {
			return nil
		}
		out := make([]*corev1.Pod, len(objs))
		for i, obj := range objs {
			out[i] = obj.(*corev1.Pod)
		}
		return out
	}
}

// run starts informers, then workers, and returns when all have ended.
func (f *fakelet) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() {
		cancel()
		f.nodeWorker.queue.ShutDown()
		f.podWorker.queue.ShutDown()
		running.Wait()
		f.runs.close()
		f.factory.Shutdown()
	}()
	nodesSeen, err := f.nodeInformer.AddEventHandler(f.nodeHandler())
	if err != nil {
		return fmt.Errorf("fakelet: watching nodes: %w", err)
	}
	podsSeen, err := f.podInformer.AddEventHandler(f.podHandler())
	if err != nil {
		return fmt.Errorf("fakelet: watching pods: %w", err)
	}
	f.factory.StartWithContext(ctx)
	running.Go(func() { f.recorder.run(ctx) })

	// Addresses in use must be known before new ones are handed out.
	if !synced(ctx, nodesSeen) {
		return nil
	}
	if err := f.register(); err != nil {
		return fmt.Errorf("fakelet: %w", err)
	}
	running.Go(func() { f.nodeWorker.run(ctx, nodeWorkers) })
	if !synced(ctx, podsSeen) {
		return nil
	}
	running.Go(func() { f.podWorker.run(ctx, f.cfg.Workers) })
	if f.cfg.Listener != nil {
		running.Go(func() { f.serve(ctx) })
	}
	<-ctx.Done()
	return nil
}

// serve answers for the kubelets until ctx ends.
func (f *fakelet) serve(ctx context.Context) {
	s := &http.Server{
		Handler: server.New(api{f}, f.cfg.Clock, f.cfg.Logger), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(f.cfg.Listener); err != nil && ctx.Err() == nil {
		f.cfg.Logger.Error("Stopped answering for the kubelets", "err", err)
	}
}

// synced waits until a handler has seen everything that was there at the start,
// without the polling of cache.WaitForCacheSync. It is false when ctx has ended.
func synced(ctx context.Context, handler cache.ResourceEventHandlerRegistration) bool {
	select {
	case <-handler.HasSyncedChecker().Done():
		return true
	case <-ctx.Done():
		return false
	}
}

// register queues the nodes that are missing.
func (f *fakelet) register() error {
	if err := f.nodes.prepare(f.cfg.Nodes, f.cfg.Pools); err != nil {
		return err
	}
	for name := range f.nodes.missing {
		f.nodeWorker.queue.Add(name)
	}
	return nil
}

func (f *fakelet) nodeHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			f.nodes.seen(obj.(*corev1.Node))
			f.nodeWorker.queue.Add(obj.(*corev1.Node).Name)
		},
		UpdateFunc: func(_, obj any) {
			f.nodes.seen(obj.(*corev1.Node))
			f.nodeWorker.queue.Add(obj.(*corev1.Node).Name)
		},
		DeleteFunc: func(obj any) {
			if node, ok := deleted(obj).(*corev1.Node); ok {
				f.nodes.gone(node)
				f.nodeWorker.queue.Add(node.Name)
			}
		},
	}
}

func (f *fakelet) podHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			f.pods.seen(obj.(*corev1.Pod))
			f.podWorker.queue.Add(keyOf(obj.(*corev1.Pod)))
		},
		UpdateFunc: func(_, obj any) {
			f.pods.seen(obj.(*corev1.Pod))
			f.podWorker.queue.Add(keyOf(obj.(*corev1.Pod)))
		},
		DeleteFunc: func(obj any) {
			if pod, ok := deleted(obj).(*corev1.Pod); ok {
				f.pods.gone(pod)
			}
		},
	}
}

// dropManagedFields keeps out of the caches what no decision needs. A write
// without managed fields leaves them as they are.
func dropManagedFields(obj any) (any, error) {
	if o, ok := obj.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	return obj, nil
}

// deleted is the last known state of a deleted object.
func deleted(obj any) any {
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return d.Obj
	}
	return obj
}

func keyOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// syncNode does what is due for a node, starts its pods once it takes them, and
// gives one up when it is under pressure.
func (f *fakelet) syncNode(ctx context.Context, name string) (time.Duration, error) {
	ready, returned, after, err := f.nodes.sync(ctx, name)
	if ready || returned {
		for _, pod := range f.indexed(byNode)(name) {
			if returned {
				f.pods.renew(pod)
			}
			f.podWorker.queue.Add(keyOf(pod))
		}
	}
	node, getErr := f.nodes.lister.Get(name)
	if getErr != nil || after == 0 {
		return after, err
	}
	if message := eviction(node); message != "" {
		if pod := victim(f.indexed(byNode)(name)); pod != nil && f.nodes.mayEvict(name) {
			f.pods.giveUp(pod, message)
			f.podWorker.queue.Add(keyOf(pod))
		}
		after = min(after, evictEvery)
	}
	return after, err
}
