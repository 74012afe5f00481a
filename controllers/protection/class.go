package protection

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/kubesim/kubesim/controllers/runner"
)

const classFinalizer = "kubernetes.io/vac-protection"

// Classes protects VolumeAttributesClasses.
type Classes struct {
	client  kubernetes.Interface
	classes storagelisters.VolumeAttributesClassLister
}

// NewClasses connects the controller to its informers.
func NewClasses(env runner.Env) (runner.Controller, error) {
	classes, core := env.Informers.Storage().V1().VolumeAttributesClasses(), env.Informers.Core().V1()
	c := &Classes{client: env.Client, classes: classes.Lister()}
	resource := storagev1.Resource("volumeattributesclasses")
	return runner.Controller{
		Name: "volumeattributesclass-protection-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: classes.Informer(), Keys: runner.Self},
			{Resource: corev1.Resource("persistentvolumeclaims"), Informer: core.PersistentVolumeClaims().Informer(), Keys: classesOf},
			{Resource: corev1.Resource("persistentvolumes"), Informer: core.PersistentVolumes().Informer(), Keys: classesOf},
		},
	}, nil
}

// classesOf names the classes that a claim or volume has, or is to get.
func classesOf(obj metav1.Object) []runner.Key {
	var names []*string
	switch o := obj.(type) {
	case *corev1.PersistentVolume:
		names = append(names, o.Spec.VolumeAttributesClassName)
	case *corev1.PersistentVolumeClaim:
		names = append(names, o.Spec.VolumeAttributesClassName, o.Status.CurrentVolumeAttributesClassName)
		if modify := o.Status.ModifyVolumeStatus; modify != nil {
			names = append(names, &modify.TargetVolumeAttributesClassName)
		}
	}
	var keys []runner.Key
	for _, name := range names {
		if ptr.Deref(name, "") != "" {
			keys = append(keys, runner.Key{Name: *name})
		}
	}
	return keys
}

// Reconcile looks after the finalizer of one class.
func (c *Classes) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	class, err := c.classes.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	finalizers, changed, err := wanted(class, classFinalizer, func() (bool, error) { return c.inUse(ctx, key) })
	if !changed || err != nil {
		return 0, err
	}
	runner.Decide(ctx, "finalizers become %v", finalizers)
	class = class.DeepCopy()
	class.Finalizers = finalizers
	_, err = c.client.StorageV1().VolumeAttributesClasses().Update(ctx, class, metav1.UpdateOptions{})
	return 0, gone(err)
}

// inUse asks the API server: classes are deleted seldom.
func (c *Classes) inUse(ctx context.Context, key runner.Key) (bool, error) {
	claims, err := c.client.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	volumes, err := c.client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	for i := range claims.Items {
		if names(&claims.Items[i], key) {
			return true, nil
		}
	}
	for i := range volumes.Items {
		if names(&volumes.Items[i], key) {
			return true, nil
		}
	}
	return false, nil
}

func names(obj metav1.Object, class runner.Key) bool {
	for _, key := range classesOf(obj) {
		if key == class {
			return true
		}
	}
	return false
}
