package fakelet

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"
)

// nodes plays the Node objects: it registers them and keeps their status and
// their Leases fresh. Its work is keyed by node and never runs twice at once for one.
type nodes struct {
	client   kubernetes.Interface
	lister   corelisters.NodeLister
	clock    clock.Clock
	recorder *recorder
	hosts    *addresses
	podCIDRs *podCIDRs
	life     *lifeCycle
	address  string                 // of the kubelets' server, "" for none to tell
	silent   func(node string) bool // Config.Silent

	mu      sync.RWMutex
	missing map[string]*corev1.Node // to register
	played  map[string]*playedNode
}

// playedNode is what a kubelet keeps in memory.
type playedNode struct {
	uid     types.UID
	hostIP  string
	podCIDR netip.Prefix // invalid while none is assigned
	mode    string       // of KubeletAnnotation

	// The rest is used by the node's worker alone.
	assigned      string // pod network as written
	lease         *coordinationv1.Lease
	renew, report time.Time // when Lease and status are due
	evicted       time.Time // when it gave up a pod last
}

// place returns where pods of a node get their addresses; ok is false for a node
// that is not played, or not ready to take pods yet.
func (n *nodes) place(name string) (hostIP string, podCIDR netip.Prefix, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	p, ok := n.played[name]
	if !ok || !p.podCIDR.IsValid() || off(p.mode) || n.silent(name) {
		return "", netip.Prefix{}, false
	}
	return p.hostIP, p.podCIDR, true
}

// slowness is what a slow node takes longer to create containers.
func (n *nodes) slowness(name string) time.Duration {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if p, ok := n.played[name]; ok && p.mode == KubeletSlow {
		return slowDelay
	}
	return 0
}

// mayEvict is true when a node has waited long enough since it gave up a pod.
func (n *nodes) mayEvict(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, ok := n.played[name]
	now := n.clock.Now()
	if !ok || now.Sub(p.evicted) < evictEvery {
		return false
	}
	p.evicted = now
	return true
}

// cut is true for a node that the network does not reach.
func (n *nodes) cut(name string) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	p, ok := n.played[name]
	return ok && p.mode == KubeletPartitioned
}

// hasAddress is true for the address of a node that is played.
func (n *nodes) hasAddress(ip string) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, p := range n.played {
		if p.hostIP == ip {
			return true
		}
	}
	return false
}

// allocatable is what a node has for pods.
func (n *nodes) allocatable(name string) corev1.ResourceList {
	node, err := n.lister.Get(name)
	if err != nil {
		return nil
	}
	return node.Status.Allocatable
}

func (n *nodes) count() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.played)
}

// prepare readies nodes for registration, those that are missing: the first of the
// numbered ones, and those of pools.
func (n *nodes) prepare(count int, pools []Pool) error {
	wanted := make([]*corev1.Node, 0, count)
	for i := range count {
		wanted = append(wanted, newNode(i))
	}
	for _, pool := range pools {
		for i := range pool.Count {
			wanted = append(wanted, pool.node(i))
		}
	}
	for _, node := range wanted {
		if _, err := n.lister.Get(node.Name); err == nil {
			continue
		}
		hostIP, err := n.hosts.take(types.UID(node.Name), nodeNetwork)
		if err != nil {
			return err
		}
		if node.Spec.PodCIDR, err = n.podCIDRs.take(); err != nil {
			return err
		}
		node.Spec.PodCIDRs = []string{node.Spec.PodCIDR}
		node.Status = nodeStatus(node, hostIP.String(), n.clock.Now())
		n.missing[node.Name] = node
	}
	return nil
}

// register creates a node that was prepared. A Node deleted later stays away.
func (n *nodes) register(ctx context.Context, name string) error {
	n.mu.RLock()
	node := n.missing[name]
	n.mu.RUnlock()
	if node == nil {
		return nil
	}
	_, err := n.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err == nil {
		n.recorder.node(node, corev1.EventTypeNormal, "NodeReady", "Node "+name+" status is now: NodeReady")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.missing, name)
	return nil
}

// seen notes the addresses of a node, whoever plays it.
func (n *nodes) seen(node *corev1.Node) {
	n.podCIDRs.keep(node.Spec.PodCIDR)
	n.hosts.keep(types.UID(node.Name), addressOf(node))
}

// gone forgets a node that was deleted.
func (n *nodes) gone(node *corev1.Node) {
	n.podCIDRs.release(node.Spec.PodCIDR)
	n.hosts.release(types.UID(node.Name))
	n.life.forget(node.UID)
}

// sync does what is due for a node. It returns whether the node has just become
// ready to take pods, whether it comes back from being off, and when it is due again.
func (n *nodes) sync(ctx context.Context, name string) (ready, returned bool, after time.Duration, err error) {
	node, err := n.lister.Get(name)
	switch {
	case apierrors.IsNotFound(err):
		n.forget(name)
		return false, false, 0, n.register(ctx, name)
	case err == nil && !isPlayed(node):
		n.forget(name)
		return false, false, 0, nil
	case err != nil:
		return false, false, 0, err
	}
	p, err := n.adopt(node)
	if err != nil {
		return false, false, 0, err
	}
	now := n.clock.Now()
	if returned = n.switchMode(node, p); returned {
		p.renew, p.report = now, now // it reports at once
	}
	if n.silent(name) {
		return false, false, silentLook, nil
	}
	if off(p.mode) {
		return false, false, 0, nil
	}
	if node, err = n.assignPodCIDR(ctx, node, p); err != nil {
		return false, returned, 0, err
	}
	ready = n.takesPods(node, p)
	stageAfter, own, err := n.playStages(ctx, node, p)
	if own {
		p.report = nextTurn(node.Name, reportEvery, now)
	} else if err == nil {
		err = n.reportStatus(ctx, node, p, now)
	}
	err = errors.Join(err, n.renewLease(ctx, node, p, now))
	after = min(p.renew.Sub(now), p.report.Sub(now))
	if stageAfter > 0 {
		after = min(after, stageAfter)
	}
	return ready, returned, after, err
}

// switchMode notes what the node's annotation says of its kubelet. It returns true
// when that comes back.
func (n *nodes) switchMode(node *corev1.Node, p *playedNode) (returned bool) {
	mode := node.Annotations[KubeletAnnotation]
	if n.silent(node.Name) {
		mode = KubeletStopped
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	returned = off(p.mode) && !off(mode)
	p.mode = mode
	return returned
}

// adopt starts playing a node, or goes on with it.
func (n *nodes) adopt(node *corev1.Node) (*playedNode, error) {
	n.mu.RLock()
	p, ok := n.played[node.Name]
	n.mu.RUnlock()
	if ok && p.uid == node.UID {
		return p, nil
	}
	hostIP := addressOf(node)
	if hostIP == "" {
		addr, err := n.hosts.take(types.UID(node.Name), nodeNetwork)
		if err != nil {
			return nil, err
		}
		hostIP = addr.String()
	}
	p = &playedNode{uid: node.UID, hostIP: hostIP, report: nextTurn(node.Name, reportEvery, n.clock.Now())}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.played[node.Name] = p
	return p, nil
}

// takesPods notes the node's pod network. It returns true when that is new.
func (n *nodes) takesPods(node *corev1.Node, p *playedNode) bool {
	network, err := netip.ParsePrefix(node.Spec.PodCIDR)
	if err != nil || network == p.podCIDR {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	p.podCIDR = network
	return true
}

func (n *nodes) forget(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.played, name)
}

// assignPodCIDR gives a node that has none its pod network. It stands in for the
// node IPAM controller. With the same write it says where the kubelet answers.
func (n *nodes) assignPodCIDR(ctx context.Context, node *corev1.Node, p *playedNode) (*corev1.Node, error) {
	told := n.address == "" || node.Annotations[addressAnnotation] == n.address
	if node.Spec.PodCIDR != "" && told {
		return node, nil
	}
	if node.Spec.PodCIDR != "" {
		p.assigned = node.Spec.PodCIDR
	}
	if p.assigned == "" {
		cidr, err := n.podCIDRs.take()
		if err != nil {
			return nil, err
		}
		p.assigned = cidr
	}
	changed := node.DeepCopy()
	if n.address != "" {
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, addressAnnotation, n.address)
	}
	changed.Spec.PodCIDR, changed.Spec.PodCIDRs = p.assigned, []string{p.assigned}
	return n.client.CoreV1().Nodes().Update(ctx, changed, metav1.UpdateOptions{})
}

// reportStatus writes the node's status when it is due: at once if it was never
// Ready, with the next renewal of the Lease if somebody else changed that.
func (n *nodes) reportStatus(ctx context.Context, node *corev1.Node, p *playedNode, now time.Time) error {
	due := !now.Before(p.report)
	due = due || pressureChanged(node)
	switch readiness(node) {
	case corev1.ConditionTrue:
	case "":
		due = true
	default:
		due = due || !now.Before(p.renew)
	}
	if due {
		changed := node.DeepCopy()
		changed.Status = nodeStatus(node, p.hostIP, now)
		if _, err := n.client.CoreV1().Nodes().UpdateStatus(ctx, changed, metav1.UpdateOptions{}); err != nil {
			return ignoreGone(err)
		}
		p.report = nextTurn(node.Name, reportEvery, now)
		if readiness(node) != corev1.ConditionTrue {
			n.recorder.node(node, corev1.EventTypeNormal, "NodeReady", "Node "+node.Name+" status is now: NodeReady")
		}
	}
	return nil
}

// renewLease writes the node's Lease when it is due. The last one written is
// kept, so that a renewal is one request.
func (n *nodes) renewLease(ctx context.Context, node *corev1.Node, p *playedNode, now time.Time) (err error) {
	if now.Before(p.renew) {
		return nil
	}
	leases := n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	if p.lease == nil {
		p.lease, err = leases.Create(ctx, newLease(node, now), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			p.lease, err = leases.Get(ctx, node.Name, metav1.GetOptions{})
		}
		if err != nil {
			p.lease = nil
			return err
		}
	}
	want := newLease(node, now)
	if !p.lease.Spec.RenewTime.Equal(want.Spec.RenewTime) {
		want.ObjectMeta.ResourceVersion, want.ObjectMeta.UID = p.lease.ResourceVersion, p.lease.UID
		want.Labels, want.Annotations = p.lease.Labels, p.lease.Annotations
		if p.lease, err = leases.Update(ctx, want, metav1.UpdateOptions{}); err != nil {
			p.lease = nil // read it again
			return err
		}
	}
	p.renew = nextTurn(node.Name, renewEvery, now)
	return nil
}

func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
