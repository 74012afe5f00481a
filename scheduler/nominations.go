package scheduler

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// nominations are the nodes that preemption has promised to pods. Room is kept
// for such a pod against those of lower priority while its victims end.
type nominations struct {
	mu     sync.Mutex
	nodeOf map[types.UID]string
	podsOf map[string][]*framework.PodInfo
}

func newNominations() *nominations {
	return &nominations{nodeOf: map[types.UID]string{}, podsOf: map[string][]*framework.PodInfo{}}
}

// set promises the node to the pod, or takes the promise back if node is "".
func (n *nominations) set(pod *framework.PodInfo, node string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop(pod.Pod.UID)
	if node == "" {
		return
	}
	n.nodeOf[pod.Pod.UID] = node
	n.podsOf[node] = append(slices.Clip(n.podsOf[node]), pod)
}

// remove forgets a pod.
func (n *nominations) remove(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop(uid)
}

// nodeFor returns the node promised to a pod, "" if there is none.
func (n *nominations) nodeFor(uid types.UID) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.nodeOf[uid]
}

// on returns the pods to which a node is promised. The slice is not to be changed.
func (n *nominations) on(node string) []*framework.PodInfo {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.podsOf[node]
}

// empty reports whether nothing is promised, the usual case.
func (n *nominations) empty() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.nodeOf) == 0
}

func (n *nominations) drop(uid types.UID) {
	node, ok := n.nodeOf[uid]
	if !ok {
		return
	}
	delete(n.nodeOf, uid)
	var rest []*framework.PodInfo // a new slice: on gave the old one away
	for _, p := range n.podsOf[node] {
		if p.Pod.UID != uid {
			rest = append(rest, p)
		}
	}
	if len(rest) == 0 {
		delete(n.podsOf, node)
		return
	}
	n.podsOf[node] = rest
}
