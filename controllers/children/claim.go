package children

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Owner is an object that claims children by a selector.
type Owner struct {
	metav1.Object
	Kind     schema.GroupVersionKind
	Selector labels.Selector
	// Finalizers are put on what is adopted.
	Finalizers []string
}

// Claims says what an owner does about its possible children.
type Claims[T metav1.Object] struct {
	Owned   []T // that match, with a reference to the owner
	Adopt   []T // that match and have no controller
	Release []T // that no longer match
}

// Sort decides about the objects that reference an owner, and about orphans. An
// owner on its way out neither adopts nor releases.
func Sort[T metav1.Object](owner Owner, owned, orphans []T) Claims[T] {
	var claims Claims[T]
	leaving := owner.GetDeletionTimestamp() != nil
	for _, child := range owned {
		switch matches := owner.Selector.Matches(labels.Set(child.GetLabels())); {
		case matches:
			claims.Owned = append(claims.Owned, child)
		case !leaving:
			claims.Release = append(claims.Release, child)
		}
	}
	for _, child := range orphans {
		if !leaving && child.GetDeletionTimestamp() == nil && owner.Selector.Matches(labels.Set(child.GetLabels())) {
			claims.Adopt = append(claims.Adopt, child)
		}
	}
	return claims
}

// Claimant makes the requests of claims.
type Claimant[T metav1.Object] struct {
	// Patch sends a strategic merge patch.
	Patch func(ctx context.Context, child T, patch []byte) (T, error)
	// Recheck reads the owner anew: a cache that has not seen its deletion must
	// not make it adopt.
	Recheck func(ctx context.Context) (metav1.Object, error)
}

// Settle adopts and releases, and returns all that the owner has then.
func (c Claimant[T]) Settle(ctx context.Context, owner Owner, claims Claims[T]) ([]T, error) {
	var errs []error
	for _, child := range claims.Release {
		_, err := c.Patch(ctx, child, releasePatch(owner, child))
		// Gone, or changed so that there is nothing to release.
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) {
			errs = append(errs, fmt.Errorf("releasing %s: %w", child.GetName(), err))
		}
	}
	if len(claims.Adopt) == 0 {
		return claims.Owned, errors.Join(errs...)
	}
	if err := c.mayAdopt(ctx, owner); err != nil {
		return claims.Owned, errors.Join(append(errs, err)...)
	}
	all := claims.Owned
	for _, child := range claims.Adopt {
		adopted, err := c.Patch(ctx, child, adoptPatch(owner, child))
		switch {
		case err == nil:
			all = append(all, adopted)
		case !apierrors.IsNotFound(err):
			errs = append(errs, fmt.Errorf("adopting %s: %w", child.GetName(), err))
		}
	}
	return all, errors.Join(errs...)
}

func (c Claimant[T]) mayAdopt(ctx context.Context, owner Owner) error {
	fresh, err := c.Recheck(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("may not adopt: %w", err)
	case fresh.GetUID() != owner.GetUID():
		return fmt.Errorf("may not adopt: %s %s is gone: got uid %s instead of %s", owner.Kind.Kind, owner.GetName(), fresh.GetUID(), owner.GetUID())
	case fresh.GetDeletionTimestamp() != nil:
		return fmt.Errorf("may not adopt: %s %s has just been deleted at %v", owner.Kind.Kind, owner.GetName(), fresh.GetDeletionTimestamp())
	}
	return nil
}

// The uid in both patches makes them fail on another object of the same name.

func adoptPatch(owner Owner, child metav1.Object) []byte {
	metadata := map[string]any{
		"uid":             child.GetUID(),
		"ownerReferences": []*metav1.OwnerReference{metav1.NewControllerRef(owner, owner.Kind)},
	}
	if len(owner.Finalizers) > 0 {
		metadata["finalizers"] = owner.Finalizers
	}
	return encode(map[string]any{"metadata": metadata})
}

func releasePatch(owner Owner, child metav1.Object) []byte {
	return encode(map[string]any{"metadata": map[string]any{
		"uid":             child.GetUID(),
		"ownerReferences": []map[string]any{{"$patch": "delete", "uid": owner.GetUID()}},
	}})
}

func encode(patch map[string]any) []byte {
	data, err := json.Marshal(patch)
	if err != nil {
		panic(err) // strings and bools
	}
	return data
}
