package validation

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What became of volume plugins.
const (
	goneIn131 = "deprecated in v1.28, non-functional in v1.31+"
	goneIn126 = "deprecated in v1.25, non-functional in v1.26+"
	goneIn125 = "deprecated in v1.22, non-functional in v1.25+"
	goneIn122 = "deprecated in v1.16, non-functional in v1.22+"
	goneIn116 = "deprecated in v1.11, non-functional in v1.16+"
)

// plugin is a kind of volume, and whether it is used.
type plugin struct {
	used        bool
	field, fate string
}

func (w *warnings) plugins(list []plugin, p *field.Path) {
	for _, v := range list {
		if v.used {
			w.add(p.Child(v.field), "%s", v.fate)
		}
	}
}

func (w *warnings) volumes(list []corev1.Volume, p *field.Path) {
	for i, v := range list {
		at := p.Index(i)
		w.plugins([]plugin{
			{v.PhotonPersistentDisk != nil, "photonPersistentDisk", goneIn116},
			{v.GitRepo != nil, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
			{v.ScaleIO != nil, "scaleIO", goneIn122},
			{v.Flocker != nil, "flocker", goneIn125},
			{v.StorageOS != nil, "storageOS", goneIn125},
			{v.Quobyte != nil, "quobyte", goneIn125},
			{v.Glusterfs != nil, "glusterfs", goneIn126},
		}, at)
		if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
			w.claimSpec(&v.Ephemeral.VolumeClaimTemplate.Spec, at.Child("ephemeral", "volumeClaimTemplate", "spec"))
		}
		w.plugins([]plugin{{v.CephFS != nil, "cephfs", goneIn131}, {v.RBD != nil, "rbd", goneIn131}}, at)
	}
	for _, v := range list {
		w.overlaps(&v)
	}
}

func (w *warnings) claimSpec(s *corev1.PersistentVolumeClaimSpec, p *field.Path) {
	w.fraction(s.Resources.Requests, corev1.ResourceStorage, p.Child("resources", "requests"))
	w.fraction(s.Resources.Limits, corev1.ResourceStorage, p.Child("resources", "limits"))
}

// volumeFile is a file of a volume, and which source of several it comes from.
type volumeFile struct{ path, source string }

func (f volumeFile) String() string {
	if f.source == "" {
		return strconv.Quote(f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// within says whether a file replaces another or stands where that has a folder.
func (f volumeFile) within(other volumeFile) bool {
	return f.path != "" && other.path != "" && strings.HasPrefix(f.path+"/", other.path+"/")
}

// overlaps warns of files of a volume of which one replaces or contains another.
func (w *warnings) overlaps(v *corev1.Volume) {
	if s := v.ConfigMap; s != nil {
		w.overlapping(keyFiles(s.Items, ""), fmt.Sprintf("volume %q (ConfigMap %q)", v.Name, s.Name))
	}
	if s := v.Secret; s != nil {
		w.overlapping(keyFiles(s.Items, ""), fmt.Sprintf("volume %q (Secret %q)", v.Name, s.SecretName))
	}
	if s := v.DownwardAPI; s != nil {
		w.overlapping(downwardFiles(s.Items, ""), fmt.Sprintf("volume %q (DownwardAPI)", v.Name))
	}
	if v.Projected == nil {
		return
	}
	var files []volumeFile
	for _, s := range v.Projected.Sources {
		if s == (corev1.VolumeProjection{}) {
			*w = append(*w, fmt.Sprintf("volume %q (Projected) has no sources provided", v.Name))
		}
		files = append(files, projectedFiles(&s)...)
	}
	w.overlapping(files, fmt.Sprintf("volume %q (Projected)", v.Name))
}

func (w *warnings) overlapping(files []volumeFile, subject string) {
	for i := range files {
		files[i].path = strings.TrimRight(files[i].path, "/")
		for _, earlier := range files[:i] {
			if files[i].within(earlier) || earlier.within(files[i]) {
				*w = append(*w, fmt.Sprintf("%s: overlapping paths: %s with %s", subject, files[i], earlier))
			}
		}
	}
}

func projectedFiles(s *corev1.VolumeProjection) []volumeFile {
	switch {
	case s.ConfigMap != nil:
		return keyFiles(s.ConfigMap.Items, fmt.Sprintf("ConfigMap %q", s.ConfigMap.Name))
	case s.Secret != nil:
		return keyFiles(s.Secret.Items, fmt.Sprintf("Secret %q", s.Secret.Name))
	case s.DownwardAPI != nil:
		return downwardFiles(s.DownwardAPI.Items, "DownwardAPI")
	case s.ServiceAccountToken != nil:
		return []volumeFile{{s.ServiceAccountToken.Path, "ServiceAccountToken"}}
	case s.ClusterTrustBundle != nil:
		name := cmp.Or(s.ClusterTrustBundle.Name, s.ClusterTrustBundle.SignerName, new(string))
		return []volumeFile{{s.ClusterTrustBundle.Path, fmt.Sprintf("ClusterTrustBundle %q", *name)}}
	case s.PodCertificate != nil:
		c := s.PodCertificate
		return []volumeFile{{c.CertificateChainPath, "PodCertificate chain"}, {c.KeyPath, "PodCertificate key"},
			{c.CredentialBundlePath, "PodCertificate credential bundle"}}
	}
	return nil
}

func keyFiles(items []corev1.KeyToPath, source string) []volumeFile {
	var files []volumeFile
	for _, i := range items {
		files = append(files, volumeFile{i.Path, source})
	}
	return files
}

func downwardFiles(items []corev1.DownwardAPIVolumeFile, source string) []volumeFile {
	var files []volumeFile
	for _, i := range items {
		files = append(files, volumeFile{i.Path, source})
	}
	return files
}

// PersistentVolumeWarnings are the warnings about a PersistentVolume.
func PersistentVolumeWarnings(pv, _ *corev1.PersistentVolume) []string {
	var w warnings
	w.storageClassAnnotation(pv.Annotations)
	const options = "volume.beta.kubernetes.io/mount-options"
	if _, ok := pv.Annotations[options]; ok {
		w.add(field.NewPath("metadata", "annotations").Key(options), `deprecated since v1.31; use "mountOptions" attribute instead`)
	}
	p, s := field.NewPath("spec"), &pv.Spec
	if s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		w.add(p.Child("persistentVolumeReclaimPolicy"), "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	if s.NodeAffinity != nil && s.NodeAffinity.Required != nil {
		w.nodeSelector(s.NodeAffinity.Required, p.Child("nodeAffinity", "required"))
	}
	w.plugins([]plugin{
		{s.CephFS != nil, "cephfs", goneIn131},
		{s.PhotonPersistentDisk != nil, "photonPersistentDisk", goneIn116},
		{s.ScaleIO != nil, "scaleIO", goneIn122},
		{s.StorageOS != nil, "storageOS", goneIn125},
		{s.Glusterfs != nil, "glusterfs", goneIn126},
		{s.RBD != nil, "rbd", goneIn131},
	}, p)
	return w
}

// PersistentVolumeClaimWarnings are the warnings about a PersistentVolumeClaim.
func PersistentVolumeClaimWarnings(claim, _ *corev1.PersistentVolumeClaim) []string {
	var w warnings
	w.storageClassAnnotation(claim.Annotations)
	w.claimSpec(&claim.Spec, field.NewPath("spec"))
	return w
}

func (w *warnings) storageClassAnnotation(annotations map[string]string) {
	if _, ok := annotations[corev1.BetaStorageClassAnnotation]; ok {
		w.add(field.NewPath("metadata", "annotations").Key(corev1.BetaStorageClassAnnotation), `deprecated since v1.8; use "storageClassName" attribute instead`)
	}
}
