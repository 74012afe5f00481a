package fakelet

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	renewEvery     = 10 * time.Second
	heartbeatEvery = 5 * time.Minute
	// nodeWriters is how many nodes are written to at once.
	nodeWriters = 16
)

// played is what a fakelet knows of a node that it plays.
type played struct {
	ip, podCIDR string
	node        *corev1.Node
	renew, beat time.Time // when the Lease and the status are due
}

// nodes are the nodes that are played.
type nodes struct {
	f      *fakelet
	mu     sync.Mutex
	byName map[string]*played
	count  int // of addresses handed out
	wake   chan struct{}
	slots  chan struct{}
}

func newNodes(f *fakelet) *nodes {
	return &nodes{f: f, byName: map[string]*played{}, wake: make(chan struct{}, 1), slots: make(chan struct{}, nodeWriters)}
}

func (n *nodes) get(name string) (played, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, ok := n.byName[name]
	if !ok {
		return played{}, false
	}
	return *p, true
}

// seen takes over a Node from the informer; only annotated ones are played.
func (n *nodes) seen(node *corev1.Node) {
	if node.Annotations[fakeAnnotation] != "true" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	p, ok := n.byName[node.Name]
	if !ok || p.node.UID != node.UID {
		p = &played{ip: addressOf(node)}
		if p.ip == "" {
			p.ip = n.newAddress()
		}
		n.byName[node.Name] = p
	}
	p.node, p.podCIDR = node, node.Spec.PodCIDR
	if p.podCIDR == "" {
		p.podCIDR = "10.244.255.0/24" // nobody assigned one: all such nodes share it
	}
	if !isReady(node) || hasNotReadyTaint(node) {
		p.beat = time.Time{}
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (n *nodes) newAddress() string {
	n.count++
	return nth(nodeNetwork, n.count+1).String()
}

func (n *nodes) gone(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byName, name)
}

// register makes the nodes that are missing.
func (n *nodes) register(ctx context.Context) {
	var writing sync.WaitGroup
	for i := range n.f.cfg.Nodes {
		node := newNode(i)
		n.mu.Lock()
		node.Status = nodeStatus(node, n.newAddress(), n.now())
		n.mu.Unlock()
		n.slots <- struct{}{}
		writing.Go(func() {
			defer func() { <-n.slots }()
			_, err := n.f.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
			if err != nil && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
				n.f.log.Error("Failed to register a node", "node", node.Name, "err", err)
			}
		})
	}
	writing.Wait()
}

// run renews what is due, whenever a node changed and once a second.
func (n *nodes) run(ctx context.Context) {
	ticker := n.f.clock.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		n.renewDue(ctx)
		select {
		case <-n.wake:
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

// renewDue writes the heartbeats that are due and waits for them.
func (n *nodes) renewDue(ctx context.Context) {
	now := n.f.clock.Now()
	var writing sync.WaitGroup
	for _, p := range n.due(now) {
		n.slots <- struct{}{}
		writing.Go(func() {
			defer func() { <-n.slots }()
			if err := n.renew(ctx, p, now); err != nil && ctx.Err() == nil {
				n.f.log.Warn("Failed to renew a node", "node", p.node.Name, "err", err)
			}
		})
	}
	writing.Wait()
}

// due is what must be written now; the next time is set at once.
func (n *nodes) due(now time.Time) []played {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []played
	for _, p := range n.byName {
		if p.renew.After(now) && p.beat.After(now) {
			continue
		}
		out = append(out, *p)
		if !p.renew.After(now) {
			p.renew = now.Add(renewEvery)
		}
		if !p.beat.After(now) {
			p.beat = now.Add(heartbeatEvery)
		}
	}
	return out
}

func (n *nodes) renew(ctx context.Context, p played, now time.Time) error {
	var errs []error
	if !p.beat.After(now) {
		errs = append(errs, n.report(ctx, p))
	}
	if !p.renew.After(now) {
		errs = append(errs, n.renewLease(ctx, p))
	}
	return errors.Join(errs...)
}

// report writes the node's status where it is missing or due.
func (n *nodes) report(ctx context.Context, p played) error {
	node := p.node.DeepCopy()
	if !isReady(node) || !p.beat.IsZero() {
		node.Status = nodeStatus(node, p.ip, n.now())
		updated, err := n.f.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		if err != nil {
			return ignoreGone(err)
		}
		node = updated
	}
	return n.removeNotReadyTaint(ctx, node)
}

// removeNotReadyTaint does what the node life cycle controller does once a node
// is Ready: it takes away the taint that admission gave the new node.
func (n *nodes) removeNotReadyTaint(ctx context.Context, node *corev1.Node) error {
	if !hasNotReadyTaint(node) {
		return nil
	}
	node = node.DeepCopy()
	kept := node.Spec.Taints[:0]
	for _, t := range node.Spec.Taints {
		if t.Key != corev1.TaintNodeNotReady {
			kept = append(kept, t)
		}
	}
	node.Spec.Taints = kept
	_, err := n.f.client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
	return ignoreGone(err)
}

func (n *nodes) renewLease(ctx context.Context, p played) error {
	leases := n.f.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease, err := leases.Get(ctx, p.node.Name, metav1.GetOptions{ResourceVersion: "0"})
	now := metav1.NewMicroTime(n.f.clock.Now())
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, newLease(p.node, now), metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec.RenewTime = &now
	lease.Spec.HolderIdentity = &p.node.Name
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

func (n *nodes) now() metav1.Time { return metav1.NewTime(n.f.clock.Now()).Rfc3339Copy() }

func isReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func hasNotReadyTaint(node *corev1.Node) bool {
	for _, t := range node.Spec.Taints {
		if t.Key == corev1.TaintNodeNotReady && t.Effect == corev1.TaintEffectNoSchedule {
			return true
		}
	}
	return false
}

func addressOf(node *corev1.Node) string {
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}
