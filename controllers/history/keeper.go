package history

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

// Keeper makes a controller's requests about revisions.
type Keeper struct {
	client    kubernetes.Interface
	revisions cache.Indexer
	expecting *children.Expectations
}

// NewKeeper reads from the informer, which must have the index of package children.
func NewKeeper(client kubernetes.Interface, informer cache.SharedIndexInformer) *Keeper {
	return &Keeper{client: client, revisions: informer.GetIndexer(), expecting: children.NewExpectations()}
}

// Settled tells whether the cache shows what was written for an owner.
func (k *Keeper) Settled(key runner.Key) bool {
	return k.expecting.Fulfilled(key, k.revisions.LastStoreSyncResourceVersion(), nil)
}

// Forget drops what was expected for an owner that is gone.
func (k *Keeper) Forget(key runner.Key) { k.expecting.Forget(key) }

// Claim returns an owner's revisions, sorted, after adopting and releasing.
func (k *Keeper) Claim(ctx context.Context, key runner.Key, owner children.Owner, recheck func(context.Context) (metav1.Object, error)) ([]*appsv1.ControllerRevision, error) {
	claims := children.Sort(owner,
		children.Of[*appsv1.ControllerRevision](k.revisions, owner.GetUID()),
		children.Orphans[*appsv1.ControllerRevision](k.revisions, owner.GetNamespace()))
	revisions, err := children.Claimant[*appsv1.ControllerRevision]{
		Patch: func(ctx context.Context, revision *appsv1.ControllerRevision, patch []byte) (*appsv1.ControllerRevision, error) {
			patched, err := k.client.AppsV1().ControllerRevisions(revision.Namespace).Patch(ctx, revision.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
			if err == nil {
				k.expecting.Wrote(key, patched.ResourceVersion)
			}
			return patched, err
		},
		Recheck: recheck,
	}.Settle(ctx, owner, claims)
	Sort(revisions)
	return revisions, err
}

// Current returns the revision that holds the data of the next one, which is
// made if there is none. Where other data has taken the next one's name, it is
// returned as the rival instead, and the caller counts a collision.
func (k *Keeper) Current(ctx context.Context, key runner.Key, sorted []*appsv1.ControllerRevision, next *appsv1.ControllerRevision) (current, rival *appsv1.ControllerRevision, err error) {
	client := k.client.AppsV1().ControllerRevisions(next.Namespace)
	if found := Find(sorted, next.Data.Raw); found != nil {
		if found == sorted[len(sorted)-1] {
			return found, nil, nil
		}
		renumbered := found.DeepCopy()
		renumbered.Revision = Next(sorted)
		runner.Decide(ctx, "back to the template of %s, now revision %d", found.Name, renumbered.Revision)
		current, err = client.Update(ctx, renumbered, metav1.UpdateOptions{})
		if err == nil {
			k.expecting.Wrote(key, current.ResourceVersion)
		}
		return current, nil, err
	}
	next.Revision = Next(sorted)
	current, err = client.Create(ctx, next, metav1.CreateOptions{})
	if err == nil {
		k.expecting.Wrote(key, current.ResourceVersion)
		return current, nil, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, nil, err
	}
	there, err := client.Get(ctx, next.Name, metav1.GetOptions{})
	if err != nil {
		return nil, nil, err
	}
	if sameData(there.Data.Raw, next.Data.Raw) {
		return there, nil, nil // made before and not in the cache, or left by an owner of the same name
	}
	return nil, there, nil
}

// Truncate deletes revisions.
func (k *Keeper) Truncate(ctx context.Context, revisions []*appsv1.ControllerRevision) error {
	for _, revision := range revisions {
		err := k.client.AppsV1().ControllerRevisions(revision.Namespace).Delete(ctx, revision.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(revision.UID))})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
