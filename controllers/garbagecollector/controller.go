package garbagecollector

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/record"

	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/trace"
)

const component = "garbage-collector-controller"

// unsyncedRetry is when to look again while monitors still fill the graph.
const unsyncedRetry = 50 * time.Millisecond

// Controller looks at one object of the graph at a time.
type Controller struct {
	client    metadata.Interface
	events    record.EventRecorder
	resources *resources
	graph     *graph
	monitors  *monitors
	absent    absentOwners
}

// New makes the controller. Its keys are uids: those of owners are known
// before their names are.
func New(env runner.Env) (runner.Controller, error) {
	known := &resources{client: env.Client.Discovery()}
	all := newGraph()
	c := &Controller{
		client: env.Metadata, events: env.Events(component), resources: known, graph: all,
		monitors: &monitors{
			client: env.Metadata, clock: env.Clock, logger: env.Logger, resources: known, graph: all,
			running: map[schema.GroupVersionResource]*monitor{},
		},
		absent: absentOwners{known: map[absentOwner]struct{}{}},
	}
	return runner.Controller{
		Name: component, Resource: schema.GroupResource{Resource: "objects"},
		Reconcile: c.Reconcile, ObjectOf: c.objectOf,
		Source: func(ctx context.Context, enqueue func(runner.Key)) {
			c.monitors.run(ctx, func(uids []types.UID) {
				for _, uid := range uids {
					enqueue(keyOf(uid))
				}
			})
		},
	}, nil
}

func keyOf(uid types.UID) runner.Key { return runner.Key{Name: string(uid)} }

func (c *Controller) objectOf(key runner.Key) string {
	known, found := c.graph.get(types.UID(key.Name))
	if !found {
		return key.Name
	}
	at, _ := c.resources.mappingOf(known.kind)
	return trace.ObjectName(at.resource.Resource, at.resource.Group, known.namespace, known.name)
}

// Reconcile does what one object's deletion, or that of its owners, asks for.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	if !c.monitors.synced.Load() {
		return unsyncedRetry, nil
	}
	known, found := c.graph.get(types.UID(key.Name))
	switch {
	case !found:
		return 0, nil
	case known.orphaning:
		return 0, c.orphan(ctx, &known)
	case known.foreground:
		return c.deleteDependents(ctx, &known)
	case known.deleted, c.graph.settled(&known):
		return 0, nil // the end of an object is one-way
	}
	return c.collect(ctx, &known)
}

// orphan takes a deleted owner out of its dependents' references.
func (c *Controller) orphan(ctx context.Context, owner *item) error {
	dependents := c.graph.dependentsOf(owner.uid)
	runner.Decide(ctx, "orphan %d dependents", len(dependents))
	for i := range dependents {
		if err := c.dropReferences(ctx, &dependents[i], owner.uid); err != nil {
			return fmt.Errorf("orphaning %s: %w", dependents[i].name, err)
		}
	}
	return c.dropFinalizer(ctx, owner, metav1.FinalizerOrphanDependents)
}

// deleteDependents lets a foreground deletion end when nothing blocks it.
func (c *Controller) deleteDependents(ctx context.Context, owner *item) (time.Duration, error) {
	blocking := 0
	for _, dependent := range c.graph.dependentsOf(owner.uid) {
		if !dependent.blocks(owner.uid) {
			continue
		}
		blocking++
		if !dependent.deleted {
			if _, err := c.collect(ctx, &dependent); err != nil {
				return 0, err
			}
		}
	}
	runner.Decide(ctx, "wait for %d dependents", blocking)
	if blocking > 0 {
		return 0, nil // their end is an event
	}
	return 0, c.dropFinalizer(ctx, owner, metav1.FinalizerDeleteDependents)
}

// collect deletes an object that no owner keeps.
func (c *Controller) collect(ctx context.Context, dependent *item) (time.Duration, error) {
	live, err := c.live(ctx, dependent)
	if err != nil || live == nil || live.DeletionTimestamp != nil {
		return 0, err
	}
	owners, err := c.classify(ctx, dependent, live.OwnerReferences)
	switch {
	case err != nil:
		return 0, err
	case owners.unknown:
		runner.Decide(ctx, "keep, for the kind of an owner is not served")
		return discoveryPeriod, nil
	case len(live.OwnerReferences) == 0:
		return 0, nil
	case owners.staying > 0:
		gone := append(owners.gone, owners.waiting...)
		if len(gone) == 0 {
			return 0, nil
		}
		runner.Decide(ctx, "drop %d of %d owners", len(gone), len(live.OwnerReferences))
		return 0, c.dropReferences(ctx, dependent, gone...)
	}
	policy := policyOf(live)
	if dependents := c.graph.dependentsOf(dependent.uid); len(owners.waiting) > 0 && len(dependents) > 0 {
		policy = metav1.DeletePropagationForeground
		if err := c.unlock(ctx, dependent, dependents); err != nil {
			return 0, err
		}
	}
	runner.Decide(ctx, "delete with propagation %s", policy)
	return 0, c.delete(ctx, dependent, live, policy)
}

// unlock breaks circles: if a dependent waits for this object as this one is
// about to wait for it, neither would ever go.
func (c *Controller) unlock(ctx context.Context, owner *item, dependents []item) error {
	for i := range dependents {
		if dependents[i].foreground {
			return c.unblock(ctx, owner, dependents)
		}
	}
	return nil
}

// owners sorts an object's owners.
type owners struct {
	staying int
	gone    []types.UID
	waiting []types.UID // being deleted in the foreground
	unknown bool        // one is of a kind that is not served
}

func (c *Controller) classify(ctx context.Context, dependent *item, references []metav1.OwnerReference) (owners, error) {
	var sorted owners
	for _, reference := range references {
		c.reportForeign(dependent, reference)
		if c.absent.has(dependent.namespace, reference) {
			sorted.gone = append(sorted.gone, reference.UID)
			continue
		}
		at, served := c.resources.mappingOf(schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind))
		if !served {
			sorted.unknown = true
			continue
		}
		if at.namespaced && dependent.namespace == "" {
			// No namespace is the right one to look in, so nothing is known of the owner.
			sorted.staying++
			continue
		}
		owner, err := c.get(ctx, at, dependent.namespace, reference.Name)
		switch {
		case apierrors.IsNotFound(err), err == nil && owner.UID != reference.UID:
			c.absent.add(dependent.namespace, reference)
			sorted.gone = append(sorted.gone, reference.UID)
		case err != nil:
			return owners{}, fmt.Errorf("looking up owner %s: %w", reference.Name, err)
		case newItem(schema.GroupVersionKind{}, owner).foreground:
			sorted.waiting = append(sorted.waiting, reference.UID)
		default:
			sorted.staying++
		}
	}
	return sorted, nil
}

// reportForeign tells the users of an object that its owner is in a namespace
// where owners can't be.
func (c *Controller) reportForeign(dependent *item, reference metav1.OwnerReference) {
	owner, found := c.graph.get(reference.UID)
	if !found || owner.namespace == "" || owner.namespace == dependent.namespace {
		return
	}
	c.events.Eventf(&corev1.ObjectReference{
		APIVersion: dependent.kind.GroupVersion().String(), Kind: dependent.kind.Kind,
		Namespace: dependent.namespace, Name: dependent.name, UID: dependent.uid,
	}, corev1.EventTypeWarning, "OwnerRefInvalidNamespace", "ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
		reference.APIVersion, reference.Kind, dependent.namespace, reference.Name, reference.UID, dependent.namespace)
}
