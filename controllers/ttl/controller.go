// Package ttl tells kubelets how long they may keep Secrets and ConfigMaps in
// their caches: the longer, the more nodes there are.
//
//	watches     Nodes
//	owns        of a Node the annotation node.alpha.kubernetes.io/ttl
//	writes      Nodes: that annotation
//	invariants  a number of nodes that swings around a limit changes nothing
package ttl

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/runner"
)

// Controller keeps the annotation of Nodes.
type Controller struct {
	client kubernetes.Interface
	nodes  corelisters.NodeLister
	cache  cache.Indexer

	clock clock.PassiveClock

	mu      sync.Mutex
	level   int
	counted time.Time // when level was found last
}

// countEvery is how often the nodes are counted at most, since that visits each.
const countEvery = time.Second

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	nodes := env.Informers.Core().V1().Nodes()
	c := &Controller{client: env.Client, nodes: nodes.Lister(), cache: nodes.Informer().GetIndexer(), clock: env.Clock}
	resource := corev1.Resource("nodes")
	return runner.Controller{
		Name: "ttl-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{{Resource: resource, Informer: nodes.Informer(), Keys: runner.Self}},
	}, nil
}

// level is a time for a range of cluster sizes. The ranges overlap, so that one
// node more or less does not change the annotations of all.
type level struct {
	min, max int // number of nodes
	seconds  int
}

func levels() []level {
	return []level{{0, 100, 0}, {90, 500, 15}, {450, 1000, 30}, {900, 2000, 60}, {1800, math.MaxInt, 300}}
}

// next is the level for a number of nodes, coming from the present one.
func next(present, nodes int) int {
	all := levels()
	for nodes > all[present].max {
		present++
	}
	for nodes < all[present].min {
		present--
	}
	return present
}

// Reconcile annotates one Node.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	node, err := c.nodes.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	if now := c.clock.Now(); now.Sub(c.counted) >= countEvery {
		c.level, c.counted = next(c.level, len(c.cache.ListKeys())), now
	}
	want := strconv.Itoa(levels()[c.level].seconds)
	c.mu.Unlock()
	if node.Annotations[corev1.ObjectTTLAnnotationKey] == want {
		return 0, nil
	}
	runner.Decide(ctx, "keep Secrets and ConfigMaps for %s s", want)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{corev1.ObjectTTLAnnotationKey: want}}})
	if err != nil {
		return 0, fmt.Errorf("patch of a node: %w", err)
	}
	_, err = c.client.CoreV1().Nodes().Patch(ctx, node.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return 0, err
}
