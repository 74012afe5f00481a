package defaults

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func volume(v *corev1.Volume) {
	if ptr.AllPtrFieldsNil(&v.VolumeSource) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	fileVolume(&v.VolumeSource)
	driverVolume(&v.VolumeSource)
	if v.Image != nil {
		setZero(&v.Image.PullPolicy, pullPolicy(v.Image.Reference))
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		claimSpec(&v.Ephemeral.VolumeClaimTemplate.Spec)
	}
}

// fileVolume fills the volumes that show API objects or the host as files.
func fileVolume(source *corev1.VolumeSource) {
	hostPath(source.HostPath)
	if s := source.Secret; s != nil {
		setNil(&s.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if s := source.ConfigMap; s != nil {
		setNil(&s.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if s := source.DownwardAPI; s != nil {
		setNil(&s.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		downwardFiles(s.Items)
	}
	if s := source.Projected; s != nil {
		setNil(&s.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
		for i := range s.Sources {
			projection(&s.Sources[i])
		}
	}
}

func hostPath(source *corev1.HostPathVolumeSource) {
	if source != nil {
		setNil(&source.Type, corev1.HostPathUnset)
	}
}

func projection(source *corev1.VolumeProjection) {
	if source.DownwardAPI != nil {
		downwardFiles(source.DownwardAPI.Items)
	}
	if token := source.ServiceAccountToken; token != nil {
		setNil(&token.ExpirationSeconds, 3600)
	}
	if certificate := source.PodCertificate; certificate != nil {
		setNil(&certificate.MaxExpirationSeconds, 86400)
	}
}

func downwardFiles(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		fieldRef(files[i].FieldRef)
	}
}

// driverVolume fills the volumes of storage systems.
func driverVolume(source *corev1.VolumeSource) {
	if s := source.ISCSI; s != nil {
		setZero(&s.ISCSIInterface, "default")
	}
	if s := source.RBD; s != nil {
		setZero(&s.RBDPool, "rbd")
		setZero(&s.RadosUser, "admin")
		setZero(&s.Keyring, "/etc/ceph/keyring")
	}
	if s := source.ScaleIO; s != nil {
		setZero(&s.StorageMode, "ThinProvisioned")
		setZero(&s.FSType, "xfs")
	}
	azureDisk(source.AzureDisk)
}

func azureDisk(source *corev1.AzureDiskVolumeSource) {
	if source == nil {
		return
	}
	setNil(&source.CachingMode, corev1.AzureDataDiskCachingReadWrite)
	setNil(&source.FSType, "ext4")
	setNil(&source.ReadOnly, false)
	setNil(&source.Kind, corev1.AzureSharedBlobDisk)
}
