package nodelifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	coordinationlisters "k8s.io/client-go/listers/coordination/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-helpers/node/topology"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/eviction"
	"github.com/kubesim/kubesim/controllers/placement"
	"github.com/kubesim/kubesim/controllers/runner"
)

const component = "node-controller"

// monitorPeriod is how often all nodes are looked at.
const monitorPeriod = 5 * time.Second

// Controller reconciles Nodes.
type Controller struct {
	client kubernetes.Interface
	events record.EventRecorder
	clock  clock.WithTicker
	logger *slog.Logger
	nodes  corelisters.NodeLister
	leases coordinationlisters.LeaseNamespaceLister
	pods   cache.Indexer
	zones  zones

	mu       sync.Mutex
	known    map[string]types.UID
	health   map[string]health
	evicting map[string]bool // nodes that wait for a NoExecute taint
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	nodes := env.Informers.Core().V1().Nodes()
	pods := env.Informers.Core().V1().Pods().Informer()
	if err := placement.Index(pods); err != nil {
		return runner.Controller{}, err
	}
	c := &Controller{
		client: env.Client, events: env.Events(component), clock: env.Clock, logger: env.Logger,
		nodes: nodes.Lister(), leases: env.Informers.Coordination().V1().Leases().Lister().Leases(corev1.NamespaceNodeLease),
		pods: pods.GetIndexer(), zones: zones{limits: map[string]*limit{}},
		known: map[string]types.UID{}, health: map[string]health{}, evicting: map[string]bool{},
	}
	resource := corev1.Resource("nodes")
	return runner.Controller{
		Name: "node-lifecycle-controller", Resource: resource, Reconcile: c.Reconcile, Source: c.monitor,
		Watches: []runner.Watch{{Resource: resource, Informer: nodes.Informer(), Keys: runner.Self, Changed: changed}},
	}, nil
}

// changed leaves out heartbeats.
func changed(old, cur metav1.Object) bool {
	before, after := old.(*corev1.Node), cur.(*corev1.Node)
	if before.Spec.Unschedulable != after.Spec.Unschedulable || len(before.Status.Conditions) != len(after.Status.Conditions) {
		return true
	}
	for i := range after.Status.Conditions {
		if b, a := before.Status.Conditions[i], after.Status.Conditions[i]; b.Type != a.Type || b.Status != a.Status {
			return true
		}
	}
	return !equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) || !equality.Semantic.DeepEqual(before.Labels, after.Labels)
}

// monitor looks at all nodes now and then, and wakes those that need something.
func (c *Controller) monitor(ctx context.Context, enqueue func(runner.Key)) {
	ticker := c.clock.NewTicker(monitorPeriod)
	defer ticker.Stop()
	for {
		for _, name := range c.look() {
			enqueue(runner.Key{Name: name})
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// look observes all nodes and names those to reconcile.
func (c *Controller) look() []string {
	nodes, err := c.nodes.List(labels.Everything())
	if err != nil {
		return nil // a lister's never fails
	}
	entered, left := c.zones.update(count(nodes))
	now := c.clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	healths, waiting := make(map[string]health, len(nodes)), map[string]bool{}
	var wake []string
	for _, node := range nodes {
		h := c.observe(node, now)
		if left {
			h.seen = now // nothing could be heard before
		}
		healths[node.Name] = h
		if noExecute(node) != "" && !evicting(node) {
			waiting[node.Name] = true
		}
		if entered || h.silent(now) && readiness(node) != corev1.ConditionUnknown || waiting[node.Name] {
			wake = append(wake, node.Name)
		}
	}
	c.health, c.evicting = healths, waiting
	if entered {
		c.logger.Info("Stopped evictions, for no node is ready")
	}
	return wake
}

func (c *Controller) observe(node *corev1.Node, now time.Time) health {
	lease, err := c.leases.Get(node.Name)
	if err != nil {
		lease = nil // there is none
	}
	var old *health
	if h, found := c.health[node.Name]; found {
		old = &h
	}
	return observe(old, node, lease, now)
}

// Reconcile gives one node the conditions, taints and labels that it should have.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	node, err := c.nodes.Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.forget(key.Name)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	c.register(node)
	if node, err = c.markUnknown(ctx, node); err != nil {
		return 0, err
	}
	if condition := conditionOf(node, corev1.NodeReady); condition != nil && condition.Status == corev1.ConditionUnknown && condition.Reason == "NodeStatusUnknown" {
		if err := c.markPods(ctx, node); err != nil {
			return 0, err
		}
	}
	execute, wait := c.execute(node)
	return wait, c.write(ctx, node, execute)
}

// register tells of nodes that are new here.
func (c *Controller) register(node *corev1.Node) {
	c.mu.Lock()
	old := c.known[node.Name]
	c.known[node.Name] = node.UID
	c.mu.Unlock()
	if old != node.UID {
		c.event(node.Name, node.UID, "RegisteredNode", "Registered Node %s in Controller", node.Name)
	}
}

func (c *Controller) forget(name string) {
	c.mu.Lock()
	uid, found := c.known[name]
	delete(c.known, name)
	c.mu.Unlock()
	if found {
		c.event(name, uid, "RemovingNode", "Removing Node %s from Controller", name)
	}
}

func (c *Controller) event(name string, uid types.UID, reason, format string, args ...any) {
	ref := &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: name, UID: uid}
	c.events.Eventf(ref, corev1.EventTypeNormal, reason, "Node %s event: %s", name, fmt.Sprintf(format, args...))
}

// markUnknown writes the status of a silent node.
func (c *Controller) markUnknown(ctx context.Context, node *corev1.Node) (*corev1.Node, error) {
	now := c.clock.Now()
	c.mu.Lock()
	// The cache may have news since the monitor looked.
	_, seen := c.health[node.Name]
	silent := seen && c.observe(node, now).silent(now)
	c.mu.Unlock()
	if !silent {
		return node, nil
	}
	status, changed := unknown(node, now)
	if !changed {
		return node, nil
	}
	wasReady := readiness(node) == corev1.ConditionTrue
	runner.Decide(ctx, "mark the silent node's conditions Unknown")
	updated := *node
	updated.Status = status
	written, err := c.client.CoreV1().Nodes().UpdateStatus(ctx, &updated, metav1.UpdateOptions{})
	if err != nil {
		return nil, err
	}
	c.logger.Info("Marked silent node", "node", node.Name)
	if wasReady {
		c.events.Eventf(&corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID},
			corev1.EventTypeNormal, "NodeNotReady", "Node %s status is now: NodeNotReady", node.Name)
	}
	return written, nil
}

// markPods takes Ready from the pods of a node that went silent.
func (c *Controller) markPods(ctx context.Context, node *corev1.Node) error {
	for _, pod := range placement.On(c.pods, node.Name) {
		if !children.Ready(pod) {
			continue
		}
		ready := corev1.PodCondition{}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady {
				ready = condition
			}
		}
		ready.Status, ready.LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(c.clock.Now()).Rfc3339Copy()
		ready.ObservedGeneration = pod.Generation
		if err := eviction.Tell(ctx, c.client, pod, "", ready); err != nil {
			return err
		}
		c.events.Event(pod, corev1.EventTypeWarning, "NodeNotReady", "Node is not ready")
	}
	return nil
}

// execute is the key of the NoExecute taint that a node may have now, and how
// long it has to wait for one that it may not have yet.
func (c *Controller) execute(node *corev1.Node) (string, time.Duration) {
	wanted := noExecute(node)
	if wanted == "" || c.zones.stopped() {
		return "", 0
	}
	if evicting(node) {
		return wanted, 0
	}
	// The monitor has the say, since it knows the state of all nodes.
	c.mu.Lock()
	waiting := c.evicting[node.Name]
	c.mu.Unlock()
	if !waiting {
		return "", 0
	}
	granted, wait := c.zones.take(topology.GetZoneKey(node), c.clock.Now())
	if !granted {
		return "", wait
	}
	return wanted, 0
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// write patches the node's taints and labels if they differ.
func (c *Controller) write(ctx context.Context, node *corev1.Node, execute string) error {
	var patch []operation
	for name, value := range newLabels(node) {
		patch = append(patch, operation{"add", "/metadata/labels/" + strings.ReplaceAll(name, "/", "~1"), value})
	}
	taints, changed := newTaints(node, execute, c.clock.Now())
	if changed {
		// The list is replaced as a whole, so it must be the one that was read. What
		// else is new of the node doesn't matter.
		guard := operation{"test", "/spec/taints", node.Spec.Taints}
		if len(node.Spec.Taints) == 0 {
			guard = operation{"test", "/metadata/resourceVersion", node.ResourceVersion}
		}
		patch = append(patch, guard, operation{"add", "/spec/taints", taints})
	}
	if len(patch) == 0 {
		return nil
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("patch of a node: %w", err)
	}
	runner.Decide(ctx, "taints %v", taints)
	_, err = c.client.CoreV1().Nodes().Patch(ctx, node.Name, types.JSONPatchType, body, metav1.PatchOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsInvalid(err): // the test failed
		return apierrors.NewConflict(corev1.Resource("nodes"), node.Name, err)
	}
	if err == nil && changed {
		c.logger.Info("Changed taints", "node", node.Name, "taints", taints)
	}
	return err
}
