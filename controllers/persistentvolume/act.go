package persistentvolume

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"
)

// doClaim takes the step that was decided on.
func (c *Controller) doClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, step claimStep) (err error) {
	switch {
	case step.bind != nil:
		return c.bind(ctx, claim, step.bind)
	case step.class != "":
		changed := claim.DeepCopy()
		changed.Spec.StorageClassName = &step.class
		_, err := c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
		return err
	}
	changesPhase := claim.Status.Phase != step.phase
	if step.provisioner != "" {
		if claim, err = c.askProvisioner(ctx, claim, step.provisioner); err != nil {
			return err
		}
	}
	if err = c.setClaimStatus(ctx, claim, step.phase, nil); err != nil {
		return err
	}
	if step.event != nil && (step.phase != corev1.ClaimLost || changesPhase) {
		c.events.Event(claim, step.event.eventType, step.event.reason, step.event.message)
	}
	return nil
}

// bind makes claim and volume point to each other; what is so already is not
// written. The volume goes first: it is what two claims may compete for.
func (c *Controller) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) error {
	bound, dirty, err := volumehelpers.GetBindVolumeToClaim(v, claim)
	if err != nil {
		return err
	}
	if dirty {
		if bound, err = c.client.CoreV1().PersistentVolumes().Update(ctx, bound, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	if bound, err = c.setVolumePhase(ctx, bound, corev1.VolumeBound, nil); err != nil {
		return err
	}
	if claim, err = c.pointClaim(ctx, claim, bound); err != nil {
		return err
	}
	return c.setClaimStatus(ctx, claim, corev1.ClaimBound, bound)
}

func (c *Controller) pointClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) (*corev1.PersistentVolumeClaim, error) {
	if claim.Spec.VolumeName == v.Name && metav1.HasAnnotation(claim.ObjectMeta, volumehelpers.AnnBindCompleted) {
		return claim, nil
	}
	claim = claim.DeepCopy()
	if claim.Spec.VolumeName != v.Name {
		claim.Spec.VolumeName = v.Name
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volumehelpers.AnnBoundByController, "yes")
	}
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volumehelpers.AnnBindCompleted, "yes")
	return c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
}

func (c *Controller) askProvisioner(ctx context.Context, claim *corev1.PersistentVolumeClaim, provisioner string) (*corev1.PersistentVolumeClaim, error) {
	if claim.Annotations[volumehelpers.AnnStorageProvisioner] == provisioner && claim.Annotations[volumehelpers.AnnBetaStorageProvisioner] == provisioner {
		return claim, nil
	}
	claim = claim.DeepCopy()
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volumehelpers.AnnStorageProvisioner, provisioner)
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volumehelpers.AnnBetaStorageProvisioner, provisioner)
	return c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
}

// setClaimStatus writes phase and, of a bound claim, what its volume gives.
func (c *Controller) setClaimStatus(ctx context.Context, claim *corev1.PersistentVolumeClaim, phase corev1.PersistentVolumeClaimPhase, v *corev1.PersistentVolume) error {
	status := newClaimStatus(&claim.Status, phase, v)
	if equality.Semantic.DeepEqual(status, &claim.Status) {
		return nil
	}
	claim = claim.DeepCopy()
	claim.Status = *status
	_, err := c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	return err
}

// newClaimStatus takes the capacity over when the claim becomes bound, not
// later: from then on it is the file system's, which grows after the volume.
func newClaimStatus(old *corev1.PersistentVolumeClaimStatus, phase corev1.PersistentVolumeClaimPhase, v *corev1.PersistentVolume) *corev1.PersistentVolumeClaimStatus {
	status := old.DeepCopy()
	status.Phase = phase
	if v == nil {
		status.AccessModes, status.Capacity = nil, nil
		return status
	}
	status.AccessModes = v.Spec.AccessModes
	if old.Phase != phase {
		status.Capacity = v.Spec.Capacity
		status.CurrentVolumeAttributesClassName = v.Spec.VolumeAttributesClassName
	}
	return status
}

// setVolumePhase writes a volume's phase; a warning becomes its message and an event.
func (c *Controller) setVolumePhase(ctx context.Context, v *corev1.PersistentVolume, phase corev1.PersistentVolumePhase, failure *event) (*corev1.PersistentVolume, error) {
	message := ""
	if failure != nil {
		message = failure.message
	}
	if v.Status.Phase == phase && v.Status.Message == message {
		return v, nil
	}
	v = v.DeepCopy()
	v.Status.Phase, v.Status.Message = phase, message
	written, err := c.client.CoreV1().PersistentVolumes().UpdateStatus(ctx, v, metav1.UpdateOptions{})
	if err == nil && failure != nil {
		c.events.Event(written, failure.eventType, failure.reason, failure.message)
	}
	return written, err
}
