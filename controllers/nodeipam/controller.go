package nodeipam

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/kubesim/kubesim/controllers/runner"
)

// Controller gives Nodes their pod networks.
type Controller struct {
	client   kubernetes.Interface
	events   record.EventRecorder
	logger   *slog.Logger
	nodes    corelisters.NodeLister
	networks *networks // of the only worker
	survey   sync.Once
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	if !env.ClusterCIDR.Addr().Is4() {
		return runner.Controller{}, fmt.Errorf("cluster network %s: must be an IPv4 prefix", env.ClusterCIDR)
	}
	nodes := env.Informers.Core().V1().Nodes()
	c := &Controller{
		client: env.Client, events: env.Events("cidrAllocator"), logger: env.Logger,
		nodes: nodes.Lister(), networks: newNetworks(env.ClusterCIDR),
	}
	resource := corev1.Resource("nodes")
	return runner.Controller{
		Name: "node-ipam-controller", Resource: resource, Reconcile: c.Reconcile, Workers: 1,
		Watches: []runner.Watch{{Resource: resource, Informer: nodes.Informer(), Keys: runner.Self, Changed: networkChanged}},
	}, nil
}

func networkChanged(old, cur metav1.Object) bool {
	return old.GetUID() != cur.GetUID() || old.(*corev1.Node).Spec.PodCIDR != cur.(*corev1.Node).Spec.PodCIDR
}

// Reconcile gives one Node a network, or notes the one that it has.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	c.survey.Do(c.holdAll)
	node, err := c.nodes.Get(key.Name)
	if apierrors.IsNotFound(err) {
		c.networks.release(key.Name)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if node.Spec.PodCIDR != "" {
		c.networks.hold(node.Name, node.Spec.PodCIDR)
		return 0, nil
	}
	return 0, c.assign(ctx, node)
}

// holdAll notes what is taken before the first network is given.
func (c *Controller) holdAll() {
	nodes, err := c.nodes.List(labels.Everything())
	if err != nil {
		return // a lister's never fails
	}
	for _, node := range nodes {
		c.networks.hold(node.Name, node.Spec.PodCIDR)
	}
}

func (c *Controller) assign(ctx context.Context, node *corev1.Node) error {
	network, err := c.networks.take(node.Name)
	if err != nil {
		c.events.Eventf(node, corev1.EventTypeNormal, "CIDRNotAvailable", "Node %s status is now: CIDRNotAvailable", node.Name)
		return err
	}
	runner.Decide(ctx, "assign %s", network)
	changed := *node
	changed.Spec.PodCIDR, changed.Spec.PodCIDRs = network.String(), []string{network.String()}
	_, err = c.client.CoreV1().Nodes().Update(ctx, &changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		c.networks.release(node.Name)
		return nil
	}
	if err != nil {
		return err // the network is kept for the next try
	}
	c.logger.Info("Assigned pod network", "node", node.Name, "podCIDR", network)
	return nil
}
