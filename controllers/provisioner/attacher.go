package provisioner

import (
	"context"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	storagelisters "k8s.io/client-go/listers/storage/v1"

	"github.com/kubesim/kubesim/controllers/runner"
)

// Attacher attaches our volumes to nodes, which is but a word.
type Attacher struct {
	client      kubernetes.Interface
	attachments storagelisters.VolumeAttachmentLister
}

// NewAttacher connects the controller to its informer.
func NewAttacher(env runner.Env) (runner.Controller, error) {
	attachments := env.Informers.Storage().V1().VolumeAttachments()
	a := &Attacher{client: env.Client, attachments: attachments.Lister()}
	resource := storagev1.Resource("volumeattachments")
	return runner.Controller{
		Name: "volume-attacher", Resource: resource, Reconcile: a.Reconcile,
		Watches: []runner.Watch{{Resource: resource, Informer: attachments.Informer(), Keys: runner.Self}},
	}, nil
}

// Reconcile answers one attachment that is for us.
func (a *Attacher) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	attachment, err := a.attachments.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil || attachment.Spec.Attacher != Driver || attachment.Status.Attached || attachment.DeletionTimestamp != nil {
		return 0, err
	}
	runner.Decide(ctx, "attach to node %s", attachment.Spec.NodeName)
	attachment = attachment.DeepCopy()
	attachment.Status.Attached = true
	_, err = a.client.StorageV1().VolumeAttachments().UpdateStatus(ctx, attachment, metav1.UpdateOptions{})
	return 0, gone(err)
}
