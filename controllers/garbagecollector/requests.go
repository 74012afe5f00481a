package garbagecollector

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
)

// object is a JSON object.
type object = map[string]any

func (c *Controller) in(at mapping, namespace string) metadata.ResourceInterface {
	if at.namespaced {
		return c.client.Resource(at.resource).Namespace(namespace)
	}
	return c.client.Resource(at.resource)
}

func (c *Controller) of(known *item) (metadata.ResourceInterface, error) {
	at, served := c.resources.mappingOf(known.kind)
	if !served {
		return nil, fmt.Errorf("%s is not served", known.kind)
	}
	return c.in(at, known.namespace), nil
}

func (c *Controller) get(ctx context.Context, at mapping, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	return c.in(at, namespace).Get(ctx, name, metav1.GetOptions{})
}

// live is the object as it is now; nil if it is gone.
func (c *Controller) live(ctx context.Context, known *item) (*metav1.PartialObjectMetadata, error) {
	client, err := c.of(known)
	if err != nil {
		return nil, err
	}
	found, err := client.Get(ctx, known.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && found.UID != known.uid {
		return nil, nil
	}
	return found, err
}

// policyOf keeps to what a former deletion asked for.
func policyOf(live *metav1.PartialObjectMetadata) metav1.DeletionPropagation {
	switch {
	case slices.Contains(live.Finalizers, metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(live.Finalizers, metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// delete deletes the object only as it was looked at: a new owner saves it.
func (c *Controller) delete(ctx context.Context, known *item, live *metav1.PartialObjectMetadata, policy metav1.DeletionPropagation) error {
	client, err := c.of(known)
	if err != nil {
		return err
	}
	err = client.Delete(ctx, known.name, metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion},
		PropagationPolicy: &policy,
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// dropReferences removes owners of an object.
func (c *Controller) dropReferences(ctx context.Context, dependent *item, gone ...types.UID) error {
	var references []object
	for _, uid := range gone {
		references = append(references, object{"$patch": "delete", "uid": uid})
	}
	return c.patchReferences(ctx, dependent, references, func(all []metav1.OwnerReference) []metav1.OwnerReference {
		return slices.DeleteFunc(all, func(reference metav1.OwnerReference) bool { return slices.Contains(gone, reference.UID) })
	})
}

// unblock lets the owner go before its dependents.
func (c *Controller) unblock(ctx context.Context, owner *item, dependents []item) error {
	free := false
	for i := range dependents {
		if !dependents[i].blocks(owner.uid) {
			continue
		}
		references := []object{{"uid": owner.uid, "blockOwnerDeletion": false}}
		if err := c.patchReferences(ctx, &dependents[i], references, func(all []metav1.OwnerReference) []metav1.OwnerReference {
			for j := range all {
				if all[j].UID == owner.uid {
					all[j].BlockOwnerDeletion = &free
				}
			}
			return all
		}); err != nil {
			return err
		}
	}
	return nil
}

// patchReferences applies a strategic merge patch, which needs no look at the
// object before, or the same change as a merge patch where custom resources
// know no other.
func (c *Controller) patchReferences(ctx context.Context, dependent *item, references []object, change func([]metav1.OwnerReference) []metav1.OwnerReference) error {
	// The uid is a precondition: another object of that name is none of our business.
	err := c.patch(ctx, dependent, types.StrategicMergePatchType, object{"uid": dependent.uid, "ownerReferences": references})
	if !apierrors.IsUnsupportedMediaType(err) {
		return err
	}
	live, err := c.live(ctx, dependent)
	if err != nil || live == nil {
		return err
	}
	return c.patch(ctx, dependent, types.MergePatchType, object{
		"uid": live.UID, "resourceVersion": live.ResourceVersion, "ownerReferences": change(live.OwnerReferences),
	})
}

// dropFinalizer removes one of our finalizers, if it is still there.
func (c *Controller) dropFinalizer(ctx context.Context, owner *item, finalizer string) error {
	live, err := c.live(ctx, owner)
	if err != nil || live == nil || !slices.Contains(live.Finalizers, finalizer) {
		return err
	}
	return c.patch(ctx, owner, types.MergePatchType, object{
		"uid": live.UID, "resourceVersion": live.ResourceVersion,
		"finalizers": slices.DeleteFunc(live.Finalizers, func(f string) bool { return f == finalizer }),
	})
}

// patch changes an object's metadata; that it is gone is as good.
func (c *Controller) patch(ctx context.Context, known *item, as types.PatchType, metadata object) error {
	client, err := c.of(known)
	if err != nil {
		return err
	}
	body, err := json.Marshal(object{"metadata": metadata})
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, known.name, as, body, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
