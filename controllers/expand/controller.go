package expand

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/kubesim/kubesim/controllers/runner"
)

// Controller tells that claims wait for their drivers.
type Controller struct {
	events  record.EventRecorder
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	claims, volumes := env.Informers.Core().V1().PersistentVolumeClaims(), env.Informers.Core().V1().PersistentVolumes()
	c := &Controller{events: env.Events("volume_expand"), claims: claims.Lister(), volumes: volumes.Lister()}
	resource := corev1.Resource("persistentvolumeclaims")
	return runner.Controller{
		Name: "volume-expand-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{{Resource: resource, Informer: claims.Informer(), Keys: waiting, Changed: asksForMore}},
	}, nil
}

// waiting names a bound claim whose volume is smaller than it asks for.
func waiting(obj metav1.Object) []runner.Key {
	if !waits(obj.(*corev1.PersistentVolumeClaim)) {
		return nil
	}
	return runner.Self(obj)
}

func waits(claim *corev1.PersistentVolumeClaim) bool {
	want, have := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
	return claim.Status.Phase == corev1.ClaimBound && want.Cmp(have) > 0
}

func asksForMore(old, cur metav1.Object) bool {
	before := old.(*corev1.PersistentVolumeClaim).Spec.Resources.Requests[corev1.ResourceStorage]
	after := cur.(*corev1.PersistentVolumeClaim).Spec.Resources.Requests[corev1.ResourceStorage]
	return after.Cmp(before) > 0
}

// Reconcile reports on one claim.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	claim, err := c.claims.PersistentVolumeClaims(key.Namespace).Get(key.Name)
	if err == nil {
		_, err = c.volumes.Get(claim.Spec.VolumeName)
	}
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil || !waits(claim) {
		return 0, err
	}
	runner.Decide(ctx, "wait for the driver")
	c.events.Event(claim, corev1.EventTypeNormal, "ExternalExpanding", "waiting for an external controller to expand this PVC")
	return 0, nil
}
