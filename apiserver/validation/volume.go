package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const volumeType = "volume type"

// podVolumes checks the volumes, and remembers the good ones for the mounts.
func (c *podContext) podVolumes(p *field.Path) field.ErrorList {
	c.volumes = make(map[string]*corev1.Volume, len(c.spec.Volumes))
	created := sets.New[string]() // claims that this pod's ephemeral volumes make
	for _, v := range c.spec.Volumes {
		if v.Ephemeral != nil && c.meta != nil && c.meta.Name != "" {
			created.Insert(c.meta.Name + "-" + v.Name)
		}
	}
	return each(c.spec.Volumes, p, func(v *corev1.Volume, p *field.Path) field.ErrorList {
		errs := c.volumeSource(v, p)
		if v.Name == "" {
			errs = append(errs, field.Required(p.Child("name"), ""))
		} else {
			errs = append(errs, dnsLabel(v.Name, p.Child("name"))...)
		}
		if _, twice := c.volumes[v.Name]; twice {
			errs = append(errs, field.Duplicate(p.Child("name"), v.Name))
		}
		if len(errs) == 0 {
			c.volumes[v.Name] = v
		}
		claim := v.PersistentVolumeClaim
		return append(errs, refuse(claim != nil && created.Has(claim.ClaimName), field.Invalid(p.Child("persistentVolumeClaim", "claimName"),
			claimName(claim), "must not reference a PVC that gets created for an ephemeral volume"))...)
	})
}

func claimName(c *corev1.PersistentVolumeClaimVolumeSource) string {
	if c == nil {
		return ""
	}
	return c.ClaimName
}

// source makes an alternative of one volume source: a name, a pointer that may
// be nil, and its rule.
func source[T any](name string, s *T, p *field.Path, rule func(*T, *field.Path) field.ErrorList) alternative {
	return alternative{name, s != nil, func() field.ErrorList { return rule(s, p.Child(name)) }}
}

// sourceAt is source for the few whose errors stand at another path than the
// error about a second source.
func sourceAt[T any](name string, s *T, p *field.Path, at string, rule func(*T, *field.Path) field.ErrorList) alternative {
	return alternative{name, s != nil, func() field.ErrorList { return rule(s, p.Child(at)) }}
}

// volumeSource checks that there is one source and what it says. The order is
// that in which Kubernetes looks at them: the first one found counts.
func (c *podContext) volumeSource(v *corev1.Volume, p *field.Path) field.ErrorList {
	return exactlyOne([]alternative{
		source("emptyDir", v.EmptyDir, p, emptyDir),
		source("hostPath", v.HostPath, p, hostPath),
		source("gitRepo", v.GitRepo, p, gitRepo),
		sourceAt("gcePersistentDisk", v.GCEPersistentDisk, p, "persistentDisk", gcePersistentDisk),
		source("awsElasticBlockStore", v.AWSElasticBlockStore, p, awsElasticBlockStore),
		source("secret", v.Secret, p, secretVolume),
		source("nfs", v.NFS, p, nfs),
		alternative{"iscsi", v.ISCSI != nil, func() field.ErrorList { return iscsiVolume(v.ISCSI, v.Name, p) }},
		source("glusterfs", v.Glusterfs, p, glusterfs),
		source("flocker", v.Flocker, p, flocker),
		source("persistentVolumeClaim", v.PersistentVolumeClaim, p, func(s *corev1.PersistentVolumeClaimVolumeSource, p *field.Path) field.ErrorList {
			return required(s.ClaimName, p.Child("claimName"))
		}),
		source("rbd", v.RBD, p, rbd),
		source("cinder", v.Cinder, p, cinder),
		sourceAt("cephFS", v.CephFS, p, "cephfs", func(s *corev1.CephFSVolumeSource, p *field.Path) field.ErrorList {
			return refuse(len(s.Monitors) == 0, field.Required(p.Child("monitors"), ""))
		}),
		source("quobyte", v.Quobyte, p, quobyte),
		sourceAt("downwarAPI", v.DownwardAPI, p, "downwardAPI", downwardAPI), // sic
		source("fc", v.FC, p, fibreChannel),
		source("flexVolume", v.FlexVolume, p, func(s *corev1.FlexVolumeSource, p *field.Path) field.ErrorList {
			return flexVolume(s.Driver, s.Options, p)
		}),
		source("configMap", v.ConfigMap, p, configMapVolume),
		source("azureFile", v.AzureFile, p, func(s *corev1.AzureFileVolumeSource, p *field.Path) field.ErrorList {
			return azureFile(s.SecretName, s.ShareName, p)
		}),
		source("vsphereVolume", v.VsphereVolume, p, vsphereVolume),
		source("photonPersistentDisk", v.PhotonPersistentDisk, p, photonDisk),
		source("portworxVolume", v.PortworxVolume, p, portworxVolume),
		source("azureDisk", v.AzureDisk, p, azureDisk),
		source("storageos", v.StorageOS, p, storageOS),
		source("projected", v.Projected, p, c.projected),
		source("scaleIO", v.ScaleIO, p, func(s *corev1.ScaleIOVolumeSource, p *field.Path) field.ErrorList {
			return scaleIO(s.Gateway, s.System, s.VolumeName, p)
		}),
		source("csi", v.CSI, p, csiVolume),
		alternative{"ephemeral", v.Ephemeral != nil, func() field.ErrorList { return c.ephemeral(v, p) }},
		source("image", v.Image, p, c.imageVolume),
	}, p, volumeType)
}

// ephemeral checks the template of a claim, and the name that the claim will get.
func (c *podContext) ephemeral(v *corev1.Volume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := p.Child("ephemeral", "volumeClaimTemplate")
	if template := v.Ephemeral.VolumeClaimTemplate; template == nil {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, concat(embeddedMeta(&template.ObjectMeta, at.Child("metadata")), claimSpec(&template.Spec, at.Child("spec")))...)
	}
	if c.meta == nil || c.meta.Name == "" || v.Name == "" {
		return errs
	}
	name := c.meta.Name + "-" + v.Name
	for _, message := range apivalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(p.Child("name"), v.Name, fmt.Sprintf("PVC name %q: %v", name, message)))
	}
	return errs
}

// embeddedMeta is the metadata of a template of which labels and annotations
// alone are used.
func embeddedMeta(meta *metav1.ObjectMeta, p *field.Path) field.ErrorList {
	return concat(apivalidation.ValidateAnnotations(meta.Annotations, p.Child("annotations")),
		metav1validation.ValidateLabels(meta.Labels, p.Child("labels")),
		onlyFields(*meta, sets.New("Annotations", "Labels"), "cannot be set", p))
}

func (c *podContext) imageVolume(s *corev1.ImageVolumeSource, p *field.Path) field.ErrorList {
	return concat(refuse(!c.inTemplate() && s.Reference == "", field.Required(p.Child("reference"), "")),
		pullPolicy(s.PullPolicy, p.Child("pullPolicy")))
}
