package garbagecollector

import (
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// An item is an object as the graph knows it. Items are values: a graph
// replaces them, so that readers keep what they have read.
type item struct {
	uid        types.UID
	kind       schema.GroupVersionKind
	namespace  string
	name       string
	owners     []metav1.OwnerReference
	deleted    bool // has a deletionTimestamp
	foreground bool // deleted, and waits for its dependents
	orphaning  bool // deleted, and its dependents are to be orphaned
}

func newItem(kind schema.GroupVersionKind, object metav1.Object) item {
	deleted := object.GetDeletionTimestamp() != nil
	return item{
		uid: object.GetUID(), kind: kind, namespace: object.GetNamespace(), name: object.GetName(),
		owners: object.GetOwnerReferences(), deleted: deleted,
		foreground: deleted && slices.Contains(object.GetFinalizers(), metav1.FinalizerDeleteDependents),
		orphaning:  deleted && slices.Contains(object.GetFinalizers(), metav1.FinalizerOrphanDependents),
	}
}

// owns tells whether a dependent's reference names this item, not only its uid.
func (i *item) owns(dependent *item, reference metav1.OwnerReference) bool {
	return i.uid == reference.UID && i.name == reference.Name && i.kind.Kind == reference.Kind &&
		i.kind.Group == schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind).Group &&
		(i.namespace == "" || i.namespace == dependent.namespace)
}

func (i *item) reference(owner types.UID) (metav1.OwnerReference, bool) {
	for _, reference := range i.owners {
		if reference.UID == owner {
			return reference, true
		}
	}
	return metav1.OwnerReference{}, false
}

// blocks tells whether the item keeps a foreground deletion of its owner waiting.
func (i *item) blocks(owner types.UID) bool {
	reference, found := i.reference(owner)
	return found && reference.BlockOwnerDeletion != nil && *reference.BlockOwnerDeletion
}

// graph is who owns whom. dependents may name owners that are not among the
// items: those not seen yet, never to be seen, or gone.
type graph struct {
	mu         sync.RWMutex
	items      map[types.UID]*item
	dependents map[types.UID]map[types.UID]struct{}
}

func newGraph() *graph {
	return &graph{items: map[types.UID]*item{}, dependents: map[types.UID]map[types.UID]struct{}{}}
}

// observe records an object that was added or changed, and returns the uids
// of the objects to look at now.
func (g *graph) observe(now item) []types.UID {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.items[now.uid]
	g.items[now.uid] = &now
	if old == nil {
		old = &item{}
	}
	look := g.relink(old, &now)
	if !now.deleted && !g.allOwnersStay(&now) {
		look = append(look, now.uid)
	}
	if now.orphaning && !old.orphaning {
		look = append(look, now.uid)
	}
	if now.foreground && !old.foreground {
		look = append(look, now.uid)
		for uid := range g.dependents[now.uid] {
			look = append(look, uid)
		}
	}
	if old.uid == "" {
		look = append(look, g.mismatched(&now)...)
	}
	return look
}

// relink moves an item from its former owners to its present ones. A
// foreground deletion may have waited for a reference that went.
func (g *graph) relink(old, now *item) []types.UID {
	var look []types.UID
	for _, reference := range old.owners {
		if _, stays := now.reference(reference.UID); !stays {
			g.unlink(reference.UID, now.uid)
		}
		if owner := g.items[reference.UID]; owner != nil && owner.foreground && old.blocks(reference.UID) && !now.blocks(reference.UID) {
			look = append(look, reference.UID)
		}
	}
	for _, reference := range now.owners {
		if g.dependents[reference.UID] == nil {
			g.dependents[reference.UID] = map[types.UID]struct{}{}
		}
		g.dependents[reference.UID][now.uid] = struct{}{}
	}
	return look
}

func (g *graph) unlink(owner, dependent types.UID) {
	delete(g.dependents[owner], dependent)
	if len(g.dependents[owner]) == 0 {
		delete(g.dependents, owner)
	}
}

// mismatched are the dependents seen before an owner that they don't name right.
func (g *graph) mismatched(owner *item) []types.UID {
	var look []types.UID
	for uid := range g.dependents[owner.uid] {
		dependent := g.items[uid]
		if reference, _ := dependent.reference(owner.uid); !owner.owns(dependent, reference) {
			look = append(look, uid)
		}
	}
	return look
}

// forget records that an object is gone, and returns the uids to look at.
func (g *graph) forget(uid types.UID) []types.UID {
	g.mu.Lock()
	defer g.mu.Unlock()
	gone := g.items[uid]
	if gone == nil {
		return nil
	}
	delete(g.items, uid)
	var look []types.UID
	for _, reference := range gone.owners {
		g.unlink(reference.UID, uid)
		if owner := g.items[reference.UID]; owner != nil && owner.foreground {
			look = append(look, reference.UID)
		}
	}
	for dependent := range g.dependents[uid] {
		look = append(look, dependent)
	}
	return look
}

func (g *graph) get(uid types.UID) (item, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if found := g.items[uid]; found != nil {
		return *found, true
	}
	return item{}, false
}

func (g *graph) dependentsOf(owner types.UID) []item {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var dependents []item
	for uid := range g.dependents[owner] {
		dependents = append(dependents, *g.items[uid])
	}
	return dependents
}

// settled tells that an item's owners are all there to stay, so that there is
// nothing to do about it; an event would tell of their end.
func (g *graph) settled(dependent *item) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.allOwnersStay(dependent)
}

func (g *graph) allOwnersStay(dependent *item) bool {
	for _, reference := range dependent.owners {
		owner := g.items[reference.UID]
		if owner == nil || owner.foreground || !owner.owns(dependent, reference) {
			return false
		}
	}
	return true
}
