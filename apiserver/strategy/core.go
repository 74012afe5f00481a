package strategy

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace makes a new namespace active, and keeps finalizers, which change
// through finalize alone.
func Namespace(ns, old *corev1.Namespace) {
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
	if old != nil {
		ns.Spec.Finalizers, ns.Status = old.Spec.Finalizers, old.Status
		return
	}
	ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
}

// NamespaceFinalize lets a write to finalize change the finalizers of spec alone.
func NamespaceFinalize(ns, old *corev1.Namespace) {
	ns.Status = old.Status
}

// Node keeps a client from the kubelet's dynamic configuration, which is gone,
// and the two forms of the pod range in step. A new node keeps its status.
func Node(node, old *corev1.Node) {
	if old == nil || old.Spec.ConfigSource == nil {
		node.Spec.ConfigSource = nil
	}
	switch {
	case node.Spec.PodCIDR != "" && (len(node.Spec.PodCIDRs) == 0 || node.Spec.PodCIDRs[0] != node.Spec.PodCIDR):
		node.Spec.PodCIDRs = []string{node.Spec.PodCIDR}
	case node.Spec.PodCIDR == "" && len(node.Spec.PodCIDRs) > 0:
		node.Spec.PodCIDR = node.Spec.PodCIDRs[0]
	}
}

// Secret moves the plain text that clients may write to the data that is kept.
func Secret(secret, _ *corev1.Secret) {
	if len(secret.StringData) > 0 {
		secret.Data = maps.Clone(secret.Data)
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		for key, text := range secret.StringData {
			secret.Data[key] = []byte(text)
		}
	}
	secret.StringData = nil
}

// ServiceAccount keeps only the names of secrets.
func ServiceAccount(account, _ *corev1.ServiceAccount) {
	for i := range account.Secrets {
		account.Secrets[i] = corev1.ObjectReference{Name: account.Secrets[i].Name}
	}
}

// PersistentVolume starts a new volume as pending, since now.
func PersistentVolume(pv, old *corev1.PersistentVolume, now metav1.Time) {
	if old == nil {
		pv.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &now}
	}
}

// PersistentVolumeStatus stamps a change of phase, unless the client did.
func PersistentVolumeStatus(pv, old *corev1.PersistentVolume, now metav1.Time) {
	if pv.Status.LastPhaseTransitionTime == nil {
		pv.Status.LastPhaseTransitionTime = old.Status.LastPhaseTransitionTime
	}
	if pv.Status.Phase != old.Status.Phase && pv.Status.LastPhaseTransitionTime.Equal(old.Status.LastPhaseTransitionTime) {
		pv.Status.LastPhaseTransitionTime = &now
	}
}

// PersistentVolumeClaim starts a new claim as pending, and keeps the two forms
// of its data source in step.
func PersistentVolumeClaim(claim, old *corev1.PersistentVolumeClaim) {
	if old == nil {
		claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	}
	hadSource := old != nil && (old.Spec.DataSource != nil || old.Spec.DataSourceRef != nil)
	if !hadSource {
		dropOtherSources(&claim.Spec)
	}
	syncDataSources(&claim.Spec)
}

// dropOtherSources: dataSource knows two kinds, and always ignored the others;
// dataSourceRef knows all.
func dropOtherSources(spec *corev1.PersistentVolumeClaimSpec) {
	source := spec.DataSource
	if source == nil {
		return
	}
	group := ""
	if source.APIGroup != nil {
		group = *source.APIGroup
	}
	isClaim := group == "" && source.Kind == "PersistentVolumeClaim"
	isSnapshot := group == "snapshot.storage.k8s.io" && source.Kind == "VolumeSnapshot"
	if !isClaim && !isSnapshot {
		spec.DataSource = nil
	}
}

func syncDataSources(spec *corev1.PersistentVolumeClaimSpec) {
	source, ref := spec.DataSource, spec.DataSourceRef
	switch {
	case source != nil && ref == nil:
		spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: source.APIGroup, Kind: source.Kind, Name: source.Name}
	case ref != nil && source == nil && (ref.Namespace == nil || *ref.Namespace == ""):
		spec.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
}
