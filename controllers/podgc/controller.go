package podgc

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/eviction"
	"github.com/kubesim/kubesim/controllers/runner"
)

const (
	component = "pod-garbage-collector-controller"
	period    = 20 * time.Second
	// terminatedThreshold is how many finished pods may stay.
	terminatedThreshold = 12500
)

// Controller deletes pods.
type Controller struct {
	client kubernetes.Interface
	clock  clock.WithTicker
	logger *slog.Logger
	pods   corelisters.PodLister
	nodes  corelisters.NodeLister

	mu      sync.Mutex
	surplus map[runner.Key]bool
	gone    map[string]bool // nodes
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	c := &Controller{
		client: env.Client, clock: env.Clock, logger: env.Logger,
		pods: env.Informers.Core().V1().Pods().Lister(), nodes: env.Informers.Core().V1().Nodes().Lister(),
	}
	return runner.Controller{Name: component, Resource: corev1.Resource("pods"), Reconcile: c.Reconcile, Source: c.rounds}, nil
}

// rounds looks at all pods now and then, and wakes those that have to go.
func (c *Controller) rounds(ctx context.Context, enqueue func(runner.Key)) {
	ticker := c.clock.NewTicker(period)
	defer ticker.Stop()
	missing := absences{}
	for {
		for _, key := range c.look(missing) {
			enqueue(key)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

func (c *Controller) look(missing absences) []runner.Key {
	pods, err := c.pods.List(labels.Everything())
	if err != nil {
		return nil // a lister's never fails
	}
	exists := func(name string) bool { _, err := c.nodes.Get(name); return err == nil }
	gone := missing.update(pods, exists, c.clock.Now())
	over := map[runner.Key]bool{}
	for _, pod := range surplus(pods, terminatedThreshold) {
		over[cache.MetaObjectToName(pod)] = true
	}
	c.mu.Lock()
	c.surplus, c.gone = over, gone
	c.mu.Unlock()
	var keys []runner.Key
	for _, pod := range pods {
		key := cache.MetaObjectToName(pod)
		if over[key] || decide(pod, c.node(pod), gone[pod.Spec.NodeName]) != none {
			keys = append(keys, key)
		}
	}
	return keys
}

func (c *Controller) node(pod *corev1.Pod) *corev1.Node {
	node, err := c.nodes.Get(pod.Spec.NodeName)
	if err != nil {
		return nil
	}
	return node
}

// Reconcile deletes one pod if it still has to go.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	pod, err := c.pods.Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	over, gone := c.surplus[key], c.gone[pod.Spec.NodeName]
	c.mu.Unlock()
	switch decide(pod, c.node(pod), gone) {
	case orphaned:
		if there, err := c.nodeExists(ctx, pod.Spec.NodeName); there || err != nil {
			return 0, err
		}
		runner.Decide(ctx, "node %s no longer exists", pod.Spec.NodeName)
		return 0, c.remove(ctx, pod, eviction.Target(pod, "DeletionByPodGC", "PodGC: node no longer exists", c.clock.Now()))
	case outOfService:
		runner.Decide(ctx, "node %s is out of service", pod.Spec.NodeName)
		return 0, c.remove(ctx, pod)
	case unscheduled:
		runner.Decide(ctx, "deleted before it was bound")
		return 0, c.remove(ctx, pod)
	}
	if over {
		runner.Decide(ctx, "more than %d pods have finished", terminatedThreshold)
		return 0, c.remove(ctx, pod)
	}
	return 0, nil
}

// nodeExists asks the API server: a cache may lag behind.
func (c *Controller) nodeExists(ctx context.Context, name string) (bool, error) {
	_, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

func (c *Controller) remove(ctx context.Context, pod *corev1.Pod, conditions ...corev1.PodCondition) error {
	// A Job counts a pod by its phase, so that comes first.
	if !children.Finished(pod) {
		if err := eviction.Tell(ctx, c.client, pod, corev1.PodFailed, conditions...); err != nil {
			return err
		}
	}
	if err := eviction.Delete(ctx, c.client, pod, ptr.To[int64](0)); err != nil {
		return err
	}
	c.logger.Info("Deleted pod", "pod", pod.Namespace+"/"+pod.Name)
	return nil
}
