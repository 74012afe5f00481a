package protection

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/kubesim/kubesim/controllers/runner"
)

const volumeFinalizer = "kubernetes.io/pv-protection"

// Volumes protects PersistentVolumes.
type Volumes struct {
	client  kubernetes.Interface
	volumes corelisters.PersistentVolumeLister
}

// NewVolumes connects the controller to its informer.
func NewVolumes(env runner.Env) (runner.Controller, error) {
	volumes := env.Informers.Core().V1().PersistentVolumes()
	c := &Volumes{client: env.Client, volumes: volumes.Lister()}
	resource := corev1.Resource("persistentvolumes")
	return runner.Controller{
		Name: "pv-protection-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{{Resource: resource, Informer: volumes.Informer(), Keys: runner.Self}},
	}, nil
}

// Reconcile looks after the finalizer of one volume.
func (c *Volumes) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	v, err := c.volumes.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	// A stale phase does no harm: the update is refused then.
	finalizers, changed, err := wanted(v, volumeFinalizer, func() (bool, error) { return v.Status.Phase == corev1.VolumeBound, nil })
	if !changed || err != nil {
		return 0, err
	}
	runner.Decide(ctx, "finalizers become %v", finalizers)
	v = v.DeepCopy()
	v.Finalizers = finalizers
	_, err = c.client.CoreV1().PersistentVolumes().Update(ctx, v, metav1.UpdateOptions{})
	return 0, gone(err)
}
