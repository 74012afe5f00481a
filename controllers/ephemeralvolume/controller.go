package ephemeralvolume

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-helpers/storage/ephemeral"

	"github.com/kubesim/kubesim/controllers/children"
	"github.com/kubesim/kubesim/controllers/runner"
)

// Controller reconciles the ephemeral volumes of pods.
type Controller struct {
	client kubernetes.Interface
	events record.EventRecorder
	pods   corelisters.PodLister
	claims corelisters.PersistentVolumeClaimLister
}

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	pods, claims := env.Informers.Core().V1().Pods(), env.Informers.Core().V1().PersistentVolumeClaims()
	c := &Controller{client: env.Client, events: env.Events("ephemeral_volume"), pods: pods.Lister(), claims: claims.Lister()}
	resource := corev1.Resource("pods")
	return runner.Controller{
		Name: "ephemeral-volume-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{
			{Resource: resource, Informer: pods.Informer(), Keys: withVolumes, Changed: never},
			{Resource: corev1.Resource("persistentvolumeclaims"), Informer: claims.Informer(), Keys: ofPod, Changed: never},
		},
	}, nil
}

// never leaves updates out: a pod's volumes don't change, and of claims only
// the deletion matters.
func never(_, _ metav1.Object) bool { return false }

func withVolumes(obj metav1.Object) []runner.Key {
	for i := range obj.(*corev1.Pod).Spec.Volumes {
		if obj.(*corev1.Pod).Spec.Volumes[i].Ephemeral != nil {
			return runner.Self(obj)
		}
	}
	return nil
}

// ofPod names the pod that owns a claim.
func ofPod(claim metav1.Object) []runner.Key {
	ref := metav1.GetControllerOfNoCopy(claim)
	if ref == nil || ref.Kind != podKind.Kind || ref.APIVersion != podKind.Version {
		return nil
	}
	return []runner.Key{{Namespace: claim.GetNamespace(), Name: ref.Name}}
}

// Reconcile makes the claims that a pod lacks.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	pod, err := c.pods.Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !children.Active(pod) {
		return 0, nil
	}
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if volume.Ephemeral == nil {
			continue
		}
		if err := c.ensure(ctx, pod, volume); err != nil {
			c.events.Eventf(pod, corev1.EventTypeWarning, "FailedBinding", "ephemeral volume %s: %v", volume.Name, err)
			return 0, fmt.Errorf("ephemeral volume %s: %w", volume.Name, err)
		}
	}
	return 0, nil
}

func (c *Controller) ensure(ctx context.Context, pod *corev1.Pod, volume *corev1.Volume) error {
	claim := claimFor(pod, volume)
	existing, err := c.claims.PersistentVolumeClaims(pod.Namespace).Get(claim.Name)
	if err == nil {
		return ephemeral.VolumeIsForPod(pod, existing)
	}
	if !apierrors.IsNotFound(err) {
		return err
	}
	runner.Decide(ctx, "create claim %s", claim.Name)
	_, err = c.client.CoreV1().PersistentVolumeClaims(pod.Namespace).Create(ctx, claim, metav1.CreateOptions{})
	return err
}

// claimFor is the claim that a volume's template asks for.
func claimFor(pod *corev1.Pod, volume *corev1.Volume) *corev1.PersistentVolumeClaim {
	template := volume.Ephemeral.VolumeClaimTemplate.DeepCopy()
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: ephemeral.VolumeClaimName(pod, volume), Labels: template.Labels, Annotations: template.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(pod, podKind)},
		},
		Spec: template.Spec,
	}
}
