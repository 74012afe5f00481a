package tainteviction

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/eviction"
	"github.com/kubesim/kubesim/controllers/placement"
	"github.com/kubesim/kubesim/controllers/runner"
)

const (
	component = "taint-eviction-controller"
	reason    = "DeletionByTaintManager"
	message   = "Taint manager: deleting due to NoExecute taint"
)

// Controller reconciles Pods.
type Controller struct {
	client kubernetes.Interface
	events record.EventRecorder
	clock  clock.PassiveClock
	logger *slog.Logger
	pods   corelisters.PodLister
	byNode cache.Indexer
	nodes  corelisters.NodeLister

	mu    sync.Mutex
	since map[runner.Key]time.Time // when pods that leave soon were first seen to
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	pods, nodes := env.Informers.Core().V1().Pods(), env.Informers.Core().V1().Nodes()
	if err := placement.Index(pods.Informer()); err != nil {
		return runner.Controller{}, err
	}
	c := &Controller{
		client: env.Client, events: env.Events(component), clock: env.Clock, logger: env.Logger,
		pods: pods.Lister(), byNode: pods.Informer().GetIndexer(), nodes: nodes.Lister(), since: map[runner.Key]time.Time{},
	}
	resource := corev1.Resource("pods")
	return runner.Controller{
		Name: component, Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: pods.Informer(), Keys: c.ofPod, Changed: podChanged},
			{Resource: corev1.Resource("nodes"), Informer: nodes.Informer(), Keys: c.onNode, Changed: taintsChanged},
		},
	}, nil
}

// ofPod wakes pods on tainted nodes, and those whose countdown must end.
func (c *Controller) ofPod(obj metav1.Object) []runner.Key {
	pod := obj.(*corev1.Pod)
	key := cache.MetaObjectToName(pod)
	c.mu.Lock()
	_, counting := c.since[key]
	c.mu.Unlock()
	if !counting && len(c.taints(pod)) == 0 {
		return nil
	}
	return []runner.Key{key}
}

func (c *Controller) onNode(node metav1.Object) []runner.Key {
	var keys []runner.Key
	for _, pod := range placement.On(c.byNode, node.GetName()) {
		keys = append(keys, cache.MetaObjectToName(pod))
	}
	return keys
}

func podChanged(old, cur metav1.Object) bool {
	before, after := old.(*corev1.Pod), cur.(*corev1.Pod)
	return before.Spec.NodeName != after.Spec.NodeName || !equality.Semantic.DeepEqual(before.Spec.Tolerations, after.Spec.Tolerations)
}

func taintsChanged(old, cur metav1.Object) bool {
	return !equality.Semantic.DeepEqual(old.(*corev1.Node).Spec.Taints, cur.(*corev1.Node).Spec.Taints)
}

// taints are those of a pod's node.
func (c *Controller) taints(pod *corev1.Pod) []corev1.Taint {
	if pod.Spec.NodeName == "" {
		return nil
	}
	node, err := c.nodes.Get(pod.Spec.NodeName)
	if err != nil {
		return nil // a node that has gone evicts nobody
	}
	return node.Spec.Taints
}

// Reconcile deletes one pod when its time has come.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	pod, err := c.pods.Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.cancel(key)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if pod.DeletionTimestamp != nil {
		c.cancel(key)
		return 0, nil
	}
	verdict, allowed := decide(c.taints(pod), pod.Spec.Tolerations)
	switch verdict {
	case stays:
		if c.cancel(key) {
			c.events.Eventf(pod, corev1.EventTypeNormal, "TaintManagerEviction", "Cancelling deletion of Pod %s", key)
		}
		return 0, nil
	case leavesSoon:
		if left := c.started(key).Add(allowed).Sub(c.clock.Now()); left > 0 {
			runner.Decide(ctx, "tolerates the taints for another %v", left)
			return left, nil
		}
	}
	runner.Decide(ctx, "does not tolerate the taints of %s", pod.Spec.NodeName)
	if err := c.evict(ctx, pod); err != nil {
		return 0, err
	}
	c.cancel(key)
	return 0, nil
}

// started is when the pod's countdown began.
func (c *Controller) started(key runner.Key) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, found := c.since[key]; !found {
		c.since[key] = c.clock.Now()
	}
	return c.since[key]
}

// cancel ends a countdown; it tells whether there was one.
func (c *Controller) cancel(key runner.Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, found := c.since[key]
	delete(c.since, key)
	return found
}

func (c *Controller) evict(ctx context.Context, pod *corev1.Pod) error {
	c.events.Eventf(pod, corev1.EventTypeNormal, "TaintManagerEviction", "Marking for deletion Pod %s/%s", pod.Namespace, pod.Name)
	if err := eviction.Tell(ctx, c.client, pod, "", eviction.Target(pod, reason, message, c.clock.Now())); err != nil {
		return err
	}
	if err := eviction.Delete(ctx, c.client, pod, nil); err != nil {
		return err
	}
	c.logger.Info("Evicted pod", "pod", pod.Namespace+"/"+pod.Name, "node", pod.Spec.NodeName)
	return nil
}
