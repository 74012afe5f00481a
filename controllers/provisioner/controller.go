package provisioner

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/trace"
)

// Controller makes, grows and deletes volumes.
type Controller struct {
	client  kubernetes.Interface
	events  record.EventRecorder
	clock   clock.WithTicker
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
}

// New connects the controller to its informers. A key without namespace is a volume.
func New(env runner.Env) (runner.Controller, error) {
	core := env.Informers.Core().V1()
	claims, volumes := core.PersistentVolumeClaims(), core.PersistentVolumes()
	c := &Controller{
		client: env.Client, events: env.Events(Driver), clock: env.Clock,
		claims: claims.Lister(), volumes: volumes.Lister(), classes: env.Informers.Storage().V1().StorageClasses().Lister(),
	}
	return runner.Controller{
		Name: "volume-provisioner", Resource: corev1.Resource("persistentvolumeclaims"), Reconcile: c.Reconcile, ObjectOf: objectOf,
		Source: c.ensureClass,
		Watches: []runner.Watch{
			{Resource: corev1.Resource("persistentvolumeclaims"), Informer: claims.Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("persistentvolumes"), Informer: volumes.Informer(), Keys: ofVolume},
		},
	}, nil
}

func objectOf(key runner.Key) string {
	resource := "persistentvolumeclaims"
	if key.Namespace == "" {
		resource = "persistentvolumes"
	}
	return trace.ObjectName(resource, "", key.Namespace, key.Name)
}

func ofVolume(obj metav1.Object) []runner.Key {
	if !ours(obj.(*corev1.PersistentVolume)) {
		return nil
	}
	return runner.Self(obj)
}

// Reconcile looks after one claim, or one volume of ours.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	if key.Namespace == "" {
		return 0, c.reclaim(ctx, key.Name)
	}
	claim, err := c.claims.PersistentVolumeClaims(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if waits(claim) {
		return 0, c.provision(ctx, claim)
	}
	return 0, gone(c.resize(ctx, claim))
}

// reclaim deletes a volume whose claim has gone.
func (c *Controller) reclaim(ctx context.Context, name string) error {
	v, err := c.volumes.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || v.DeletionTimestamp != nil || v.Status.Phase != corev1.VolumeReleased ||
		v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return err
	}
	runner.Decide(ctx, "delete the released volume")
	return gone(c.client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &v.UID}}))
}

// gone is nil when the object vanished meanwhile.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
