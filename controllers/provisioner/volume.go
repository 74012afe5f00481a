package provisioner

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/reference"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubesim/kubesim/controllers/runner"
)

// waits tells that a claim is to get a volume from us.
func waits(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Annotations[volumehelpers.AnnStorageProvisioner] == Driver &&
		claim.Spec.VolumeName == "" && claim.DeletionTimestamp == nil
}

func ours(v *corev1.PersistentVolume) bool {
	return v.Annotations[volumehelpers.AnnDynamicallyProvisioned] == Driver
}

func (c *Controller) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	class, err := c.classes.Get(volumehelpers.GetPersistentVolumeClaimClass(claim))
	if err != nil {
		return err
	}
	ref, err := reference.GetReference(scheme.Scheme, claim)
	if err != nil {
		return err
	}
	v := volumeFor(claim, class, ref)
	if _, err := c.volumes.Get(v.Name); err == nil {
		return nil // it is being bound
	}
	runner.Decide(ctx, "create volume %s", v.Name)
	c.events.Eventf(claim, corev1.EventTypeNormal, "Provisioning", "External provisioner is provisioning volume for claim %q", claim.Namespace+"/"+claim.Name)
	_, err = c.client.CoreV1().PersistentVolumes().Create(ctx, v, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil
	case err != nil:
		c.events.Eventf(claim, corev1.EventTypeWarning, "ProvisioningFailed", "failed to provision volume with StorageClass %q: %v", class.Name, err)
		return err
	}
	c.events.Eventf(claim, corev1.EventTypeNormal, "ProvisioningSucceeded", "Successfully provisioned volume %s", v.Name)
	return nil
}

// volumeFor is as large as the claim asks for, and points to it.
func volumeFor(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, ref *corev1.ObjectReference) *corev1.PersistentVolume {
	name := "pvc-" + string(claim.UID)
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{volumehelpers.AnnDynamicallyProvisioned: Driver}},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: claim.Spec.AccessModes, VolumeMode: claim.Spec.VolumeMode,
			Capacity:         corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			ClaimRef:         ref,
			StorageClassName: class.Name, MountOptions: class.MountOptions,
			VolumeAttributesClassName: claim.Spec.VolumeAttributesClassName,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: Driver, VolumeHandle: name},
			},
		},
	}
	if class.ReclaimPolicy != nil {
		v.Spec.PersistentVolumeReclaimPolicy = *class.ReclaimPolicy
	}
	return v
}

// resize grows a bound claim's volume to what the claim asks for now. No node
// has to grow a file system, so the claim has its new size right after.
func (c *Controller) resize(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	want, have := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
	if claim.Status.Phase != corev1.ClaimBound || want.Cmp(have) <= 0 {
		return nil
	}
	v, err := c.volumes.Get(claim.Spec.VolumeName)
	if err != nil || !ours(v) {
		return err
	}
	if size := v.Spec.Capacity[corev1.ResourceStorage]; size.Cmp(want) < 0 {
		runner.Decide(ctx, "grow %s to %s", v.Name, want.String())
		c.events.Eventf(claim, corev1.EventTypeNormal, "Resizing", "External resizer is resizing volume %s", v.Name)
		v = v.DeepCopy()
		v.Spec.Capacity[corev1.ResourceStorage] = want
		if v, err = c.client.CoreV1().PersistentVolumes().Update(ctx, v, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	grown := claim.DeepCopy()
	grown.Status.Capacity = v.Spec.Capacity
	if grown.Status.AllocatedResources == nil {
		grown.Status.AllocatedResources = corev1.ResourceList{}
	}
	grown.Status.AllocatedResources[corev1.ResourceStorage] = want
	if equality.Semantic.DeepEqual(grown.Status, claim.Status) {
		return nil
	}
	if _, err := c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, grown, metav1.UpdateOptions{}); err != nil {
		return err
	}
	c.events.Event(claim, corev1.EventTypeNormal, "VolumeResizeSuccessful", "Resize volume succeeded")
	return nil
}
