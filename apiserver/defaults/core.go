package defaults

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// Namespace labels a namespace with its own name, so that selectors can name it.
// One that is still to get a generated name is labelled in strategy.Namespace.
func Namespace(ns *corev1.Namespace) {
	if ns.Name != "" {
		if ns.Labels == nil {
			ns.Labels = map[string]string{}
		}
		ns.Labels[corev1.LabelMetadataName] = ns.Name
	}
	setZero(&ns.Status.Phase, corev1.NamespaceActive)
}

// Node takes allocatable from capacity, as if the system needed nothing for itself.
func Node(node *corev1.Node) {
	if node.Status.Allocatable == nil {
		node.Status.Allocatable = maps.Clone(node.Status.Capacity)
	}
	resourceList(node.Status.Capacity, node.Status.Allocatable)
}

// Secret fills the type.
func Secret(secret *corev1.Secret) {
	setZero(&secret.Type, corev1.SecretTypeOpaque)
}

// ReplicationController takes selector and labels from its template, as it has
// done since before selectors had to be spelled out.
func ReplicationController(rc *corev1.ReplicationController) {
	setNil(&rc.Spec.Replicas, 1)
	if rc.Spec.Template == nil {
		return
	}
	if labels := rc.Spec.Template.Labels; labels != nil {
		if len(rc.Spec.Selector) == 0 {
			rc.Spec.Selector = maps.Clone(labels)
		}
		if len(rc.Labels) == 0 {
			rc.Labels = maps.Clone(labels)
		}
	}
	PodTemplateSpec(rc.Spec.Template)
}

// Endpoints fills the protocols of ports.
func Endpoints(endpoints *corev1.Endpoints) {
	for i := range endpoints.Subsets {
		for j := range endpoints.Subsets[i].Ports {
			setZero(&endpoints.Subsets[i].Ports[j].Protocol, corev1.ProtocolTCP)
		}
	}
}

// ResourceQuota rounds quantities.
func ResourceQuota(quota *corev1.ResourceQuota) {
	resourceList(quota.Spec.Hard, quota.Status.Hard, quota.Status.Used)
}

// LimitRange completes limits of containers: default from max, defaultRequest
// from default, else from min.
func LimitRange(limits *corev1.LimitRange) {
	for i := range limits.Spec.Limits {
		item := &limits.Spec.Limits[i]
		if item.Type == corev1.LimitTypeContainer {
			item.Default = addMissing(item.Default, item.Max)
			item.DefaultRequest = addMissing(item.DefaultRequest, item.Default)
			item.DefaultRequest = addMissing(item.DefaultRequest, item.Min)
		}
		resourceList(item.Max, item.Min, item.Default, item.DefaultRequest, item.MaxLimitRequestRatio)
	}
}

// PersistentVolume fills a volume.
func PersistentVolume(pv *corev1.PersistentVolume) {
	setZero(&pv.Status.Phase, corev1.VolumePending)
	setZero(&pv.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	setNil(&pv.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	resourceList(pv.Spec.Capacity)
	persistentVolumeSource(&pv.Spec.PersistentVolumeSource)
}

func persistentVolumeSource(source *corev1.PersistentVolumeSource) {
	hostPath(source.HostPath)
	azureDisk(source.AzureDisk)
	if s := source.RBD; s != nil {
		setZero(&s.RBDPool, "rbd")
		setZero(&s.RadosUser, "admin")
		setZero(&s.Keyring, "/etc/ceph/keyring")
	}
	if s := source.ISCSI; s != nil {
		setZero(&s.ISCSIInterface, "default")
	}
	if s := source.ScaleIO; s != nil {
		setZero(&s.StorageMode, "ThinProvisioned")
		setZero(&s.FSType, "xfs")
	}
}

// PersistentVolumeClaim fills a claim.
func PersistentVolumeClaim(claim *corev1.PersistentVolumeClaim) {
	setZero(&claim.Status.Phase, corev1.ClaimPending)
	claimSpec(&claim.Spec)
	resourceList(claim.Status.Capacity, claim.Status.AllocatedResources)
}

func claimSpec(spec *corev1.PersistentVolumeClaimSpec) {
	setNil(&spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	resourceList(spec.Resources.Limits, spec.Resources.Requests)
}
