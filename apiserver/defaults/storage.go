package defaults

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// StorageClass fills a class: volumes are made at once, and go with their claim.
func StorageClass(class *storagev1.StorageClass) {
	setNil(&class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
	setNil(&class.VolumeBindingMode, storagev1.VolumeBindingImmediate)
}

// CSIDriver fills what a driver can do.
func CSIDriver(driver *storagev1.CSIDriver) {
	spec := &driver.Spec
	setNil(&spec.AttachRequired, true)
	setNil(&spec.PodInfoOnMount, false)
	setNil(&spec.StorageCapacity, false)
	setNil(&spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	if len(spec.VolumeLifecycleModes) == 0 {
		spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
	setNil(&spec.RequiresRepublish, false)
	setNil(&spec.SELinuxMount, false)
	setNil(&spec.PreventPodSchedulingIfMissing, false)
}

// VolumeAttachment fills a volume that is described in place.
func VolumeAttachment(attachment *storagev1.VolumeAttachment) {
	if spec := attachment.Spec.Source.InlineVolumeSpec; spec != nil {
		resourceList(spec.Capacity)
		persistentVolumeSource(&spec.PersistentVolumeSource)
	}
}
