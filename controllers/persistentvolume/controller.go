package persistentvolume

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/controllers/volume"
	"github.com/kubesim/kubesim/trace"
)

const (
	component = "persistentvolume-controller"
	// resync is when a claim that waits for something is looked at again.
	resync = 15 * time.Second
)

// Indexes of claims and volumes.
const (
	byClaim   = "claimRef"     // volumes by the claim they point to
	byClass   = "class"        // volumes that point to no claim, by class
	byPending = "pendingClass" // claims without a volume, by class
)

// Controller reconciles claims and volumes.
type Controller struct {
	client  kubernetes.Interface
	events  record.EventRecorder
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
	cache   struct{ claims, volumes, pods cache.Indexer }
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	core := env.Informers.Core().V1()
	claims, volumes, pods := core.PersistentVolumeClaims(), core.PersistentVolumes(), core.Pods().Informer()
	classes := env.Informers.Storage().V1().StorageClasses()
	if err := volume.IndexPods(pods); err != nil {
		return runner.Controller{}, err
	}
	if err := volumes.Informer().AddIndexers(cache.Indexers{byClaim: claimOfVolume, byClass: freeInClass}); err != nil {
		return runner.Controller{}, fmt.Errorf("indexes of volumes: %w", err)
	}
	if err := claims.Informer().AddIndexers(cache.Indexers{byPending: pendingInClass}); err != nil {
		return runner.Controller{}, fmt.Errorf("index of claims: %w", err)
	}
	c := &Controller{
		client: env.Client, events: env.Events(component),
		claims: claims.Lister(), volumes: volumes.Lister(), classes: classes.Lister(),
	}
	c.cache.claims, c.cache.volumes, c.cache.pods = claims.Informer().GetIndexer(), volumes.Informer().GetIndexer(), pods.GetIndexer()
	return runner.Controller{
		Name: component, Resource: corev1.Resource("persistentvolumeclaims"), Reconcile: c.Reconcile, ObjectOf: objectOf,
		Watches: []runner.Watch{
			{Resource: corev1.Resource("persistentvolumeclaims"), Informer: claims.Informer(), Keys: c.ofClaim},
			{Resource: corev1.Resource("persistentvolumes"), Informer: volumes.Informer(), Keys: c.ofVolume},
			{Resource: storagev1.Resource("storageclasses"), Informer: classes.Informer(), Keys: c.ofClass},
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

// claimOfVolume is an index function.
func claimOfVolume(obj any) ([]string, error) {
	if ref := obj.(*corev1.PersistentVolume).Spec.ClaimRef; ref != nil {
		return []string{ref.Namespace + "/" + ref.Name}, nil
	}
	return nil, nil
}

// freeInClass is an index function.
func freeInClass(obj any) ([]string, error) {
	v := obj.(*corev1.PersistentVolume)
	if v.Spec.ClaimRef != nil {
		return nil, nil
	}
	return []string{volumehelpers.GetPersistentVolumeClass(v)}, nil
}

// pendingInClass is an index function.
func pendingInClass(obj any) ([]string, error) {
	claim := obj.(*corev1.PersistentVolumeClaim)
	if claim.Status.Phase != corev1.ClaimPending || claim.Spec.VolumeName != "" {
		return nil, nil
	}
	return []string{volumehelpers.GetPersistentVolumeClaimClass(claim)}, nil
}

// indexed lists what an index has; the indexes are there from New on.
func indexed[T metav1.Object](indexer cache.Indexer, index, value string) []T {
	objects, err := indexer.ByIndex(index, value)
	if err != nil {
		panic(err)
	}
	typed := make([]T, len(objects))
	for i, obj := range objects {
		typed[i] = obj.(T)
	}
	return typed
}

// ofClaim names a claim, and the volumes that point to it or that it points to.
func (c *Controller) ofClaim(obj metav1.Object) []runner.Key {
	keys := runner.Self(obj)
	if name := obj.(*corev1.PersistentVolumeClaim).Spec.VolumeName; name != "" {
		keys = append(keys, runner.Key{Name: name})
	}
	for _, v := range indexed[*corev1.PersistentVolume](c.cache.volumes, byClaim, keys[0].String()) {
		keys = append(keys, runner.Self(v)...)
	}
	return keys
}

// ofVolume names a volume and its claim, or the claims that may want it.
func (c *Controller) ofVolume(obj metav1.Object) []runner.Key {
	v := obj.(*corev1.PersistentVolume)
	keys := runner.Self(v)
	if ref := v.Spec.ClaimRef; ref != nil {
		return append(keys, runner.Key{Namespace: ref.Namespace, Name: ref.Name})
	}
	return append(keys, c.pending(volumehelpers.GetPersistentVolumeClass(v))...)
}

// ofClass names the claims that wait for the class, or for there being a default one.
func (c *Controller) ofClass(class metav1.Object) []runner.Key {
	keys := c.pending(class.GetName())
	if isDefault(class.(*storagev1.StorageClass)) {
		keys = append(keys, c.pending("")...)
	}
	return keys
}

func (c *Controller) pending(class string) []runner.Key {
	var keys []runner.Key
	for _, claim := range indexed[*corev1.PersistentVolumeClaim](c.cache.claims, byPending, class) {
		keys = append(keys, runner.Self(claim)...)
	}
	return keys
}

// Reconcile looks after one claim, or one volume.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	if key.Namespace == "" {
		return 0, c.reconcileVolume(ctx, key.Name)
	}
	claim, err := c.claims.PersistentVolumeClaims(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil // its volume has a key of its own
	}
	if err != nil {
		return 0, err
	}
	if behind, err := c.behind(ctx, claim); behind || err != nil {
		runner.Decide(ctx, "wait until the cache shows the class")
		return 0, err
	}
	step, err := decideClaim(claim, c)
	if err != nil {
		return 0, err
	}
	runner.Decide(ctx, "%s", step)
	if err := c.doClaim(ctx, claim, step); err != nil {
		return 0, gone(err)
	}
	if step.bind == nil && step.phase == corev1.ClaimPending {
		return resync, nil
	}
	return 0, nil
}

// behind tells whether the API has the class of an unbound claim, and the cache
// not yet. It is asked at each look at a claim whose class is a mere name, which
// is how volumes made by hand are chosen.
func (c *Controller) behind(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bool, error) {
	name := volumehelpers.GetPersistentVolumeClaimClass(claim)
	if _, err := c.classes.Get(name); name == "" || claim.Spec.VolumeName != "" || err == nil {
		return false, nil
	}
	_, err := c.client.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// gone is nil when the object vanished meanwhile, which wakes its key.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// The following is the world that decideClaim looks at.

func (c *Controller) volume(name string) *corev1.PersistentVolume {
	v, err := c.volumes.Get(name)
	if err != nil {
		return nil // a lister's only error is that there is none
	}
	return v
}

// candidates are the volumes that point to the claim, or to none and are of its class.
func (c *Controller) candidates(claim *corev1.PersistentVolumeClaim) []*corev1.PersistentVolume {
	found := append(
		indexed[*corev1.PersistentVolume](c.cache.volumes, byClaim, cache.MetaObjectToName(claim).String()),
		indexed[*corev1.PersistentVolume](c.cache.volumes, byClass, volumehelpers.GetPersistentVolumeClaimClass(claim))...)
	slices.SortFunc(found, func(a, b *corev1.PersistentVolume) int { return strings.Compare(a.Name, b.Name) })
	return found
}

func (c *Controller) storageClasses() storagelisters.StorageClassLister { return c.classes }

// unscheduled names the pods that use a claim and have no node yet.
func (c *Controller) unscheduled(claim *corev1.PersistentVolumeClaim) []string {
	var names []string
	for _, pod := range volume.PodsOf(c.cache.pods, claim) {
		if pod.Spec.NodeName == "" && pod.Status.Phase == corev1.PodPending {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}
