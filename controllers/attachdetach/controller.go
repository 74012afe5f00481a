package attachdetach

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/controllers/volume"
)

// The controller's indexes: of pods and attachments by node, of attachments by volume.
const (
	byNode   = "attachdetach.node"
	byVolume = "attachdetach.volume"
)

// Controller reconciles the attachments of nodes.
type Controller struct {
	client  kubernetes.Interface
	events  record.EventRecorder
	clock   clock.PassiveClock
	nodes   corelisters.NodeLister
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	drivers storagelisters.CSIDriverLister
	cache   struct{ nodes, pods, attachments cache.Indexer }
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	core, storage := env.Informers.Core().V1(), env.Informers.Storage().V1()
	pods, attachments := core.Pods().Informer(), storage.VolumeAttachments().Informer()
	if err := volume.IndexPods(pods); err != nil {
		return runner.Controller{}, err
	}
	if err := pods.AddIndexers(cache.Indexers{byNode: nodeOfPod}); err != nil {
		return runner.Controller{}, fmt.Errorf("index of pods by node: %w", err)
	}
	if err := attachments.AddIndexers(cache.Indexers{byNode: nodeOfAttachment, byVolume: volumeOfAttachment}); err != nil {
		return runner.Controller{}, fmt.Errorf("indexes of attachments: %w", err)
	}
	c := &Controller{
		client: env.Client, events: env.Events("attachdetach-controller"), clock: env.Clock, nodes: core.Nodes().Lister(),
		claims: core.PersistentVolumeClaims().Lister(), volumes: core.PersistentVolumes().Lister(), drivers: storage.CSIDrivers().Lister(),
	}
	c.cache.nodes, c.cache.pods, c.cache.attachments = core.Nodes().Informer().GetIndexer(), pods.GetIndexer(), attachments.GetIndexer()
	resource := corev1.Resource("nodes")
	return runner.Controller{
		Name: "attachdetach-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: core.Nodes().Informer(), Keys: runner.Self, Changed: nodeChanged},
			{Resource: corev1.Resource("pods"), Informer: pods, Keys: ofPod, Changed: podChanged},
			{Resource: corev1.Resource("persistentvolumeclaims"), Informer: core.PersistentVolumeClaims().Informer(), Keys: c.ofClaim, Changed: claimChanged},
			{Resource: storagev1.Resource("volumeattachments"), Informer: attachments, Keys: c.ofAttachment},
			{Resource: storagev1.Resource("csidrivers"), Informer: storage.CSIDrivers().Informer(), Keys: c.everyNode},
		},
	}, nil
}

func nodeOfPod(obj any) ([]string, error) {
	return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
}

func nodeOfAttachment(obj any) ([]string, error) {
	return []string{obj.(*storagev1.VolumeAttachment).Spec.NodeName}, nil
}

func volumeOfAttachment(obj any) ([]string, error) {
	return []string{volumeName(obj.(*storagev1.VolumeAttachment))}, nil
}

func volumeName(a *storagev1.VolumeAttachment) string {
	if name := a.Spec.Source.PersistentVolumeName; name != nil {
		return *name
	}
	return ""
}

func indexed[T metav1.Object](indexer cache.Indexer, index, value string) []T {
	objects, err := indexer.ByIndex(index, value)
	if err != nil {
		panic(err) // the indexes are there from New on
	}
	typed := make([]T, len(objects))
	for i, obj := range objects {
		typed[i] = obj.(T)
	}
	return typed
}

func nodeChanged(old, cur metav1.Object) bool {
	a, b := old.(*corev1.Node), cur.(*corev1.Node)
	return !equality.Semantic.DeepEqual(a.Status.VolumesInUse, b.Status.VolumesInUse) ||
		!equality.Semantic.DeepEqual(a.Status.VolumesAttached, b.Status.VolumesAttached) ||
		!equality.Semantic.DeepEqual(a.Spec.Taints, b.Spec.Taints) || notReadySince(a).IsZero() != notReadySince(b).IsZero()
}

func ofPod(obj metav1.Object) []runner.Key {
	pod := obj.(*corev1.Pod)
	if pod.Spec.NodeName == "" || len(volume.ClaimsOf(pod)) == 0 {
		return nil
	}
	return []runner.Key{{Name: pod.Spec.NodeName}}
}

func podChanged(old, cur metav1.Object) bool {
	a, b := old.(*corev1.Pod), cur.(*corev1.Pod)
	return a.Spec.NodeName != b.Spec.NodeName || done(a) != done(b)
}

// ofClaim names the nodes whose pods use a claim.
func (c *Controller) ofClaim(obj metav1.Object) []runner.Key {
	var keys []runner.Key
	for _, pod := range volume.PodsOf(c.cache.pods, obj.(*corev1.PersistentVolumeClaim)) {
		keys = append(keys, ofPod(pod)...)
	}
	return keys
}

func claimChanged(old, cur metav1.Object) bool {
	return old.(*corev1.PersistentVolumeClaim).Status.Phase != cur.(*corev1.PersistentVolumeClaim).Status.Phase
}

// ofAttachment names the attachment's node, and those that wait for the volume to be detached there.
func (c *Controller) ofAttachment(obj metav1.Object) []runner.Key {
	a := obj.(*storagev1.VolumeAttachment)
	keys := []runner.Key{{Name: a.Spec.NodeName}}
	if v, err := c.volumes.Get(volumeName(a)); err == nil && v.Spec.ClaimRef != nil {
		if claim, err := c.claims.PersistentVolumeClaims(v.Spec.ClaimRef.Namespace).Get(v.Spec.ClaimRef.Name); err == nil {
			keys = append(keys, c.ofClaim(claim)...)
		}
	}
	return keys
}

func (c *Controller) everyNode(metav1.Object) []runner.Key {
	var keys []runner.Key
	for _, name := range c.cache.nodes.ListKeys() {
		keys = append(keys, runner.Key{Name: name})
	}
	return keys
}

// Reconcile compares the attachments of one node with what its pods use.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	node, err := c.nodes.Get(key.Name)
	if err != nil && !apierrors.IsNotFound(err) {
		return 0, err
	}
	if err != nil {
		node = nil // what it had is detached when its pods are gone
	}
	var have []held
	for _, a := range indexed[*storagev1.VolumeAttachment](c.cache.attachments, byNode, key.Name) {
		v, err := c.volumes.Get(volumeName(a))
		if err != nil || v.Spec.CSI == nil {
			v = nil
		}
		if volumeName(a) != "" { // an inline volume's is nothing of ours
			have = append(have, held{a, v})
		}
	}
	todo := decide(node, key.Name, c.wanted(key.Name), have, c.elsewhere, c.clock.Now())
	if len(todo.attach)+len(todo.detach) > 0 {
		runner.Decide(ctx, "attach %d, detach %d", len(todo.attach), len(todo.detach))
	}
	return todo.again, c.act(ctx, node, todo)
}

// wanted are the volumes that a node's pods use and that need attaching, by name.
func (c *Controller) wanted(node string) map[string]*use {
	wanted := map[string]*use{}
	for _, pod := range indexed[*corev1.Pod](c.cache.pods, byNode, node) {
		if done(pod) {
			continue
		}
		for _, v := range c.volumesOf(pod) {
			if !c.needsAttaching(v) {
				continue
			}
			if wanted[v.Name] == nil {
				wanted[v.Name] = &use{volume: v}
			}
			wanted[v.Name].pods = append(wanted[v.Name].pods, pod)
		}
	}
	return wanted
}

// volumesOf are the CSI volumes bound to a pod's claims.
func (c *Controller) volumesOf(pod *corev1.Pod) []*corev1.PersistentVolume {
	var volumes []*corev1.PersistentVolume
	for _, name := range volume.ClaimsOf(pod) {
		claim, err := c.claims.PersistentVolumeClaims(name.Namespace).Get(name.Name)
		if err != nil || claim.Status.Phase != corev1.ClaimBound || !volume.Uses(pod, claim) {
			continue
		}
		v, err := c.volumes.Get(claim.Spec.VolumeName)
		if err == nil && v.Spec.CSI != nil {
			volumes = append(volumes, v)
		}
	}
	return volumes
}

func (c *Controller) needsAttaching(v *corev1.PersistentVolume) bool {
	driver, err := c.drivers.Get(v.Spec.CSI.Driver)
	return err != nil || driver.Spec.AttachRequired == nil || *driver.Spec.AttachRequired
}

// elsewhere lists who holds a volume on other nodes: their attachments, and
// the pods that use it there.
func (c *Controller) elsewhere(v *corev1.PersistentVolume, node string) (attached bool, pods []*corev1.Pod) {
	for _, a := range indexed[*storagev1.VolumeAttachment](c.cache.attachments, byVolume, v.Name) {
		if a.Spec.NodeName == node {
			continue
		}
		attached = true
		for _, pod := range indexed[*corev1.Pod](c.cache.pods, byNode, a.Spec.NodeName) {
			for _, used := range c.volumesOf(pod) {
				if used.Name == v.Name && !done(pod) {
					pods = append(pods, pod)
				}
			}
		}
	}
	return attached, pods
}
