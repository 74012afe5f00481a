package disruption

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/scale"
)

// owners find the number of replicas that pods' controllers want.
type owners struct {
	replicaSets  appslisters.ReplicaSetLister
	deployments  appslisters.DeploymentLister
	statefulSets appslisters.StatefulSetLister
	controllers  corelisters.ReplicationControllerLister
	scales       scale.ScalesGetter
	mapper       meta.RESTMapper
}

// scaled is the object that says how many pods there should be, and how many.
type scaled struct {
	uid      types.UID
	replicas int32
}

// find the scale behind an owner; nil if there is no such owner, or it can't be scaled.
func (o *owners) find(ctx context.Context, namespace string, owner metav1.OwnerReference) (*scaled, error) {
	group, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return nil, err
	}
	switch (schema.GroupKind{Group: group.Group, Kind: owner.Kind}) {
	case schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}:
		return o.ofReplicaSet(namespace, owner)
	case schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		set, err := o.statefulSets.StatefulSets(namespace).Get(owner.Name)
		return answer(set, owner.UID, err, func() *int32 { return set.Spec.Replicas })
	case schema.GroupKind{Kind: "ReplicationController"}:
		rc, err := o.controllers.ReplicationControllers(namespace).Get(owner.Name)
		return answer(rc, owner.UID, err, func() *int32 { return rc.Spec.Replicas })
	}
	return o.byScale(ctx, namespace, group.WithKind(owner.Kind), owner)
}

// ofReplicaSet looks behind a ReplicaSet: what counts is its Deployment's wish.
func (o *owners) ofReplicaSet(namespace string, owner metav1.OwnerReference) (*scaled, error) {
	set, err := o.replicaSets.ReplicaSets(namespace).Get(owner.Name)
	if err == nil && set.UID == owner.UID {
		if parent := metav1.GetControllerOfNoCopy(set); parent != nil && parent.Kind == "Deployment" {
			deployment, err := o.deployments.Deployments(namespace).Get(parent.Name)
			return answer(deployment, parent.UID, err, func() *int32 { return deployment.Spec.Replicas })
		}
	}
	return answer(set, owner.UID, err, func() *int32 { return set.Spec.Replicas })
}

// answer checks that it is that very object.
func answer(obj metav1.Object, uid types.UID, err error, replicas func() *int32) (*scaled, error) {
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case obj.GetUID() != uid:
		return nil, nil
	}
	return &scaled{uid: uid, replicas: *replicas()}, nil
}

// byScale asks the scale subresource of a kind that is not built in.
func (o *owners) byScale(ctx context.Context, namespace string, kind schema.GroupVersionKind, owner metav1.OwnerReference) (*scaled, error) {
	mapping, err := o.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := o.scales.Scales(namespace).Get(ctx, mapping.Resource.GroupResource(), owner.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil // or it has no such subresource
	case err != nil:
		return nil, err
	case found.UID != owner.UID:
		return nil, nil
	}
	return &scaled{uid: found.UID, replicas: found.Spec.Replicas}, nil
}
