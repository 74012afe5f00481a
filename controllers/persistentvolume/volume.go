package persistentvolume

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubesim/kubesim/controllers/runner"
)

// volumeStep is what comes next for a volume.
type volumeStep int

const (
	leave    volumeStep = iota // its claim's key binds it
	offer                      // it is for anybody, or for a claim that is yet to come
	keep                       // it is bound
	mismatch                   // it points to a claim of another volumeMode
	release                    // its claim has gone
	unbind                     // its claim has taken another volume
)

func (s volumeStep) String() string {
	return [...]string{"leave it to its claim", "make available", "keep bound", "report the mismatch", "release", "unbind"}[s]
}

// decideVolume says what comes next for a volume; claim is the one that it
// points to, nil if that has gone.
func decideVolume(v *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) volumeStep {
	ref := v.Spec.ClaimRef
	switch {
	case ref == nil || ref.UID == "":
		return offer
	case claim == nil || claim.UID != ref.UID:
		return release
	case claim.Spec.VolumeName == v.Name:
		return keep
	case claim.Spec.VolumeName == "":
		if volumehelpers.CheckVolumeModeMismatches(&claim.Spec, &v.Spec) {
			return mismatch
		}
		return leave
	case metav1.HasAnnotation(v.ObjectMeta, volumehelpers.AnnDynamicallyProvisioned) && v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete:
		return release // it was made for a claim that did not need it
	}
	return unbind
}

func (c *Controller) reconcileVolume(ctx context.Context, name string) error {
	v := c.volume(name)
	if v == nil {
		return nil
	}
	claim, err := c.claimOf(ctx, v)
	if err != nil {
		return err
	}
	step := decideVolume(v, claim)
	runner.Decide(ctx, "%s", step)
	return gone(c.doVolume(ctx, v, claim, step))
}

// claimOf is the claim that a volume points to. Since a release can't be
// undone, the live object decides whether it has gone.
func (c *Controller) claimOf(ctx context.Context, v *corev1.PersistentVolume) (*corev1.PersistentVolumeClaim, error) {
	ref := v.Spec.ClaimRef
	if ref == nil || ref.UID == "" {
		return nil, nil
	}
	claim, err := c.claims.PersistentVolumeClaims(ref.Namespace).Get(ref.Name)
	released := v.Status.Phase == corev1.VolumeReleased || v.Status.Phase == corev1.VolumeFailed
	if released || err == nil && claim.UID == ref.UID {
		return claim, gone(err)
	}
	claim, err = c.client.CoreV1().PersistentVolumeClaims(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return claim, err
}

func (c *Controller) doVolume(ctx context.Context, v *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim, step volumeStep) (err error) {
	switch step {
	case offer:
		_, err = c.setVolumePhase(ctx, v, corev1.VolumeAvailable, nil)
	case keep:
		_, err = c.setVolumePhase(ctx, v, corev1.VolumeBound, nil)
	case mismatch:
		c.events.Eventf(v, corev1.EventTypeWarning, "VolumeMismatch", "Cannot bind PersistentVolume to requested PersistentVolumeClaim %q due to incompatible volumeMode.", claim.Name)
		c.events.Eventf(claim, corev1.EventTypeWarning, "VolumeMismatch", "Cannot bind PersistentVolume %q to requested PersistentVolumeClaim due to incompatible volumeMode.", v.Name)
	case release:
		return c.release(ctx, v)
	case unbind:
		return c.unbind(ctx, v)
	}
	return err
}

// unbind makes a volume free again. One that was made for a claim by hand
// still waits for a claim of that name.
func (c *Controller) unbind(ctx context.Context, v *corev1.PersistentVolume) error {
	v = v.DeepCopy()
	if metav1.HasAnnotation(v.ObjectMeta, volumehelpers.AnnBoundByController) {
		v.Spec.ClaimRef = nil
		delete(v.Annotations, volumehelpers.AnnBoundByController)
	} else {
		v.Spec.ClaimRef.UID = ""
	}
	v, err := c.client.CoreV1().PersistentVolumes().Update(ctx, v, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	_, err = c.setVolumePhase(ctx, v, corev1.VolumeAvailable, nil)
	return err
}

// release reclaims a volume whose claim has gone, as its policy says.
func (c *Controller) release(ctx context.Context, v *corev1.PersistentVolume) (err error) {
	if v.Status.Phase == corev1.VolumeFailed {
		return nil // reclaiming it failed, and nothing has changed
	}
	if v, err = c.setVolumePhase(ctx, v, corev1.VolumeReleased, nil); err != nil {
		return err
	}
	switch v.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimDelete:
		return c.deleteVolume(ctx, v)
	case corev1.PersistentVolumeReclaimRecycle:
		return c.recycle(ctx, v)
	}
	return nil
}

// deleteVolume deletes those volumes that no driver has to be asked about.
func (c *Controller) deleteVolume(ctx context.Context, v *corev1.PersistentVolume) error {
	provisioner := v.Annotations[volumehelpers.AnnDynamicallyProvisioned]
	if v.Spec.CSI != nil || provisioner != "" && !strings.HasPrefix(provisioner, "kubernetes.io/") {
		return nil // whoever made it deletes it
	}
	if v.Spec.HostPath == nil {
		_, err := c.setVolumePhase(ctx, v, corev1.VolumeFailed, warning("VolumeFailedDelete",
			fmt.Sprintf("error getting deleter volume plugin for volume %q: no deletable volume plugin matched", v.Name)))
		return err
	}
	if path := v.Spec.HostPath.Path; !strings.HasPrefix(path, "/tmp/") || path == "/tmp/" {
		_, err := c.setVolumePhase(ctx, v, corev1.VolumeFailed, warning("VolumeFailedDelete",
			"host_path deleter only supports /tmp/.+ but received provided "+path))
		return err
	}
	return c.client.CoreV1().PersistentVolumes().Delete(ctx, v.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &v.UID}})
}

func (c *Controller) recycle(ctx context.Context, v *corev1.PersistentVolume) error {
	if v.Spec.HostPath == nil && v.Spec.NFS == nil {
		_, err := c.setVolumePhase(ctx, v, corev1.VolumeFailed, warning("VolumeFailedRecycle", "No recycler plugin found for the volume!"))
		return err
	}
	c.events.Event(v, corev1.EventTypeNormal, "VolumeRecycled", "Volume recycled")
	return c.unbind(ctx, v)
}
