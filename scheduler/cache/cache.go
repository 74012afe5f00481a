// Package cache holds the nodes and the pods on them, those included that the
// scheduler has placed but not yet seen bound, and makes snapshots of them.
//
//   - Writers are the event handlers and the scheduling loop; all methods are
//     safe for concurrent use.
//   - A snapshot costs as much as what changed since the last one, not as the cluster.
//   - A pod is counted once, however often it is added: Assume and Add of the same
//     UID are the same pod.
package cache

import (
	"errors"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// ErrPodKnown means that a pod to be assumed is on a node already.
var ErrPodKnown = errors.New("pod is on a node already")

// Cache is the scheduler's view of the cluster. Make it with New.
type Cache struct {
	mu         sync.Mutex
	generation int64
	nodes      map[string]*entry
	pods       map[types.UID]*placed
	dirty      []*entry // changed since the last snapshot
	relayout   bool     // nodes came or went since then, or changed their zone
}

type entry struct {
	info  *framework.NodeInfo
	dirty bool
}

type placed struct {
	info    *framework.PodInfo
	assumed bool
}

// New returns an empty cache.
func New() *Cache {
	return &Cache{nodes: map[string]*entry{}, pods: map[types.UID]*placed{}}
}

// SetNode adds or updates a node.
func (c *Cache) SetNode(node *v1.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(node.Name)
	if old := e.info.Node; old == nil || zone(old) != zone(node) || len(old.Status.Images) != len(node.Status.Images) {
		c.relayout = true
	}
	e.info.SetNode(node)
	c.touch(e)
}

// RemoveNode takes a node away. Its pods stay known until they go themselves,
// for the node may come back.
func (c *Cache) RemoveNode(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.nodes[name]
	if !ok {
		return
	}
	e.info.Node = nil
	c.relayout = true
	c.dropIfEmpty(name, e)
}

// Assume counts a pod on a node on which it is about to be bound.
func (c *Cache) Assume(pod *framework.PodInfo) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.pods[pod.Pod.UID]; ok {
		return ErrPodKnown
	}
	c.add(pod, true)
	return nil
}

// Forget takes an assumed pod back, whose binding failed.
func (c *Cache) Forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.pods[uid]; ok && p.assumed {
		c.remove(uid, p)
	}
}

// IsKnown reports whether the pod is on a node, be it assumed.
func (c *Cache) IsKnown(uid types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.pods[uid]
	return ok
}

// SetPod adds or updates a pod that is bound to a node.
func (c *Cache) SetPod(pod *v1.Pod) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, ok := c.pods[pod.UID]
	if ok {
		old.assumed = false
		if countsAlike(old.info.Pod, pod) {
			return nil
		}
	}
	info, err := framework.NewPodInfo(pod)
	if ok {
		c.remove(pod.UID, old)
	}
	c.add(info, false) // also with a term that does not parse: it takes room
	return err
}

// RemovePod takes a pod away that is deleted or terminal.
func (c *Cache) RemovePod(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.pods[uid]; ok {
		c.remove(uid, p)
	}
}

func (c *Cache) add(pod *framework.PodInfo, assumed bool) {
	e := c.entry(pod.Pod.Spec.NodeName)
	e.info.AddPod(pod)
	c.pods[pod.Pod.UID] = &placed{info: pod, assumed: assumed}
	c.touch(e)
}

func (c *Cache) remove(uid types.UID, p *placed) {
	delete(c.pods, uid)
	name := p.info.Pod.Spec.NodeName
	e, ok := c.nodes[name]
	if !ok {
		return
	}
	e.info.RemovePod(uid)
	c.touch(e)
	c.dropIfEmpty(name, e)
}

func (c *Cache) entry(name string) *entry {
	e, ok := c.nodes[name]
	if !ok {
		e = &entry{info: &framework.NodeInfo{}}
		c.nodes[name] = e
	}
	return e
}

func (c *Cache) dropIfEmpty(name string, e *entry) {
	if e.info.Node == nil && len(e.info.Pods) == 0 {
		delete(c.nodes, name)
	}
}

func (c *Cache) touch(e *entry) {
	c.generation++
	e.info.Generation = c.generation
	if !e.dirty {
		e.dirty = true
		c.dirty = append(c.dirty, e)
	}
}

// countsAlike reports whether an update leaves everything alone that a plugin
// looks at. Most updates of a running pod are of its conditions.
func countsAlike(a, b *v1.Pod) bool {
	if a.Spec.NodeName != b.Spec.NodeName || a.Generation != b.Generation ||
		(a.DeletionTimestamp == nil) != (b.DeletionTimestamp == nil) ||
		!a.Status.StartTime.Equal(b.Status.StartTime) || len(a.Labels) != len(b.Labels) {
		return false
	}
	for key, value := range a.Labels {
		if other, ok := b.Labels[key]; !ok || other != value {
			return false
		}
	}
	return !resizing(a) && !resizing(b)
}

func resizing(pod *v1.Pod) bool {
	for i := range pod.Status.Conditions {
		switch pod.Status.Conditions[i].Type {
		case v1.PodResizePending, v1.PodResizeInProgress, v1.DisruptionTarget:
			return true
		}
	}
	return false
}
