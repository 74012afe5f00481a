package fakelet

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	oteltrace "go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/trace"
)

// fakelet plays the nodes.
type fakelet struct {
	cfg    Config
	client kubernetes.Interface
	clock  clock.WithTicker
	log    *slog.Logger
	tracer oteltrace.Tracer

	pods  corelisters.PodLister
	nodes *nodes
	ips   *addresses
	queue workqueue.TypedRateLimitingInterface[string] // keys of pods
	told  *events
}

// Run plays the nodes until ctx ends.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.validate(); err != nil {
		return err
	}
	rc := rest.CopyConfig(cfg.RESTConfig)
	rc.UserAgent = "kubelet"
	rc.Wrap(trace.Transport)
	client, err := kubernetes.NewForConfig(rc)
	if err != nil {
		return fmt.Errorf("fakelet: %w", err)
	}
	f := &fakelet{
		cfg: cfg, client: client, clock: cfg.Clock, log: cfg.Logger, tracer: cfg.Tracer.Tracer("fakelet"), ips: newAddresses(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 10*time.Second),
			workqueue.TypedRateLimitingQueueConfig[string]{Clock: cfg.Clock, Name: "fakelet"}),
	}
	f.nodes = newNodes(f)
	f.told = newEvents(f)
	return f.run(ctx)
}

func (f *fakelet) run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer f.queue.ShutDown()

	all := informers.NewSharedInformerFactory(f.client, 0)
	bound := informers.NewSharedInformerFactoryWithOptions(f.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "").String()
	}))
	defer all.Shutdown()
	defer bound.Shutdown()
	defer cancel() // before Shutdown waits for the informers
	nodeInformer, podInformer := all.Core().V1().Nodes(), bound.Core().V1().Pods()
	f.pods = podInformer.Lister()
	if err := f.watch(nodeInformer.Informer(), podInformer.Informer()); err != nil {
		return err
	}
	all.Start(ctx.Done())
	bound.Start(ctx.Done())
	running.Go(func() { f.nodes.register(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), nodeInformer.Informer().HasSynced, podInformer.Informer().HasSynced) {
		return nil
	}
	running.Go(func() { f.nodes.run(ctx) })
	running.Go(func() { f.told.run(ctx) })
	for range f.cfg.Workers {
		running.Go(func() { f.work(ctx) })
	}
	<-ctx.Done()
	f.queue.ShutDown()
	return nil
}

// watch turns events into work.
func (f *fakelet) watch(nodeInformer, podInformer cache.SharedIndexInformer) error {
	_, err := nodeInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { f.nodes.seen(obj.(*corev1.Node)) },
		UpdateFunc: func(_, obj any) { f.nodes.seen(obj.(*corev1.Node)) },
		DeleteFunc: func(obj any) { f.nodes.gone(key(obj)) },
	})
	if err != nil {
		return err
	}
	_, err = podInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			pod := obj.(*corev1.Pod)
			if pod.Status.PodIP != "" && !pod.Spec.HostNetwork {
				f.ips.keep(string(pod.UID), pod.Status.PodIP)
			}
			f.queue.Add(key(obj))
		},
		UpdateFunc: func(_, obj any) { f.queue.Add(key(obj)) },
		DeleteFunc: func(obj any) {
			if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = d.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				f.ips.release(string(pod.UID))
			}
		},
	})
	return err
}

func key(obj any) string {
	k, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return "" // informers deliver objects only
	}
	return k
}

func (f *fakelet) work(ctx context.Context) {
	for {
		k, shutdown := f.queue.Get()
		if shutdown {
			return
		}
		if err := f.sync(ctx, k); err != nil && ctx.Err() == nil {
			f.log.Debug("Failed to sync a pod, will retry", "pod", k, "err", err)
			f.queue.AddRateLimited(k)
		} else {
			f.queue.Forget(k)
		}
		f.queue.Done(k)
	}
}
