package validation

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PersistentVolume holds the rules of core/v1 PersistentVolumes, whose source
// never changes.
func PersistentVolume(pv, old *corev1.PersistentVolume) field.ErrorList {
	errs := concat(metaCreate(&pv.ObjectMeta, clusterScoped, apivalidation.NameIsDNSSubdomain), volumeSpec(&pv.Spec, pv.Name, field.NewPath("spec")))
	if old == nil {
		return errs
	}
	source := pv.Spec.PersistentVolumeSource.DeepCopy()
	if was := old.Spec.CSI; was != nil && source.CSI != nil && was.ControllerExpandSecretRef == nil {
		source.CSI.ControllerExpandSecretRef = nil // may be added
	}
	if !sameValue(*source, old.Spec.PersistentVolumeSource) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "persistentvolumesource"),
			"spec.persistentvolumesource is immutable after creation\n"+difference(old.Spec.PersistentVolumeSource, *source)))
	}
	errs = append(errs, unchanged(pv.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	if was := old.Spec.NodeAffinity; was != nil {
		errs = append(errs, refuse(!sameValue(pv.Spec.NodeAffinity, withStableLabels(was, pv.Spec.NodeAffinity)),
			field.Invalid(field.NewPath("nodeAffinity"), byFieldName(pv.Spec.NodeAffinity), immutable+", except for updating from beta label to GA"))...)
	}
	return append(errs, refuse(old.Spec.VolumeAttributesClassName != nil && pv.Spec.VolumeAttributesClassName == nil,
		field.Forbidden(field.NewPath("spec", "volumeAttributesClassName"), "update from non-nil value to nil is forbidden"))...)
}

// PersistentVolumeStatus holds the rules of a write to persistentvolumes/status.
func PersistentVolumeStatus(pv, old *corev1.PersistentVolume) field.ErrorList {
	return metaUpdate(&pv.ObjectMeta, &old.ObjectMeta)
}

// stableLabels are the names under which labels of nodes have become stable.
var stableLabels = map[string]string{
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	"beta.kubernetes.io/os":             corev1.LabelOSStable,
	"beta.kubernetes.io/arch":           corev1.LabelArchStable,
	corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
}

// withStableLabels is the old affinity with those keys renamed that the new one
// renames at the same place.
func withStableLabels(old, now *corev1.VolumeNodeAffinity) *corev1.VolumeNodeAffinity {
	out := old.DeepCopy()
	if out.Required == nil || now == nil || now.Required == nil {
		return out
	}
	for i := range min(len(out.Required.NodeSelectorTerms), len(now.Required.NodeSelectorTerms)) {
		was, is := out.Required.NodeSelectorTerms[i].MatchExpressions, now.Required.NodeSelectorTerms[i].MatchExpressions
		for j := range min(len(was), len(is)) {
			if stableLabels[was[j].Key] == is[j].Key {
				was[j].Key = is[j].Key
			}
		}
	}
	return out
}

func volumeSpec(s *corev1.PersistentVolumeSpec, name string, p *field.Path) field.ErrorList {
	policy := p.Child("persistentVolumeReclaimPolicy")
	errs := concat(refuse(len(s.AccessModes) == 0, field.Required(p.Child("accessModes"), "")),
		accessModeList(s.AccessModes, p.Child("accessModes")), capacity(s.Capacity, p.Child("capacity")))
	if s.PersistentVolumeReclaimPolicy != "" {
		errs = append(errs, supported(s.PersistentVolumeReclaimPolicy, policy,
			corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)...)
	}
	if a := s.NodeAffinity; a != nil && a.Required == nil {
		errs = append(errs, field.Required(p.Child("nodeAffinity", "required"), "must specify required node constraints"))
	} else if a != nil {
		errs = append(errs, nodeSelector(a.Required, p.Child("nodeAffinity", "required"))...)
	}
	errs = append(errs, persistentSource(s, name, p)...)
	errs = append(errs, refuse(s.HostPath != nil && path.Clean(s.HostPath.Path) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle,
		field.Forbidden(policy, "may not be 'recycle' for a hostPath mount of '/'"))...)
	if s.StorageClassName != "" {
		errs = append(errs, named(s.StorageClassName, p.Child("storageClassName"), apivalidation.NameIsDNSSubdomain)...)
	}
	errs = append(errs, when(s.VolumeMode, p.Child("volumeMode"), volumeMode)...)
	class, at := s.VolumeAttributesClassName, p.Child("volumeAttributesClassName")
	if class == nil {
		return errs
	}
	if *class == "" {
		errs = append(errs, field.Required(at, "an empty string is disallowed"))
	} else {
		errs = append(errs, named(*class, at, apivalidation.NameIsDNSSubdomain)...)
	}
	return append(errs, refuse(s.CSI == nil, field.Required(p.Child("csi"), "has to be specified when using volumeAttributesClassName"))...)
}

func capacity(list corev1.ResourceList, p *field.Path) field.ErrorList {
	_, storage := list[corev1.ResourceStorage]
	var shown any // Kubernetes shows a list that is absent as null
	if list != nil {
		shown = list
	}
	errs := concat(refuse(len(list) == 0, field.Required(p, "")),
		refuse(!storage || len(list) > 1, field.NotSupported(p, shown, []corev1.ResourceName{corev1.ResourceStorage})))
	for _, name := range sortedKeys(list) {
		errs = append(errs, concat(basicResource(list, name, p), positiveQuantity(list[name], p.Key(string(name))))...)
	}
	return errs
}

func persistentSource(s *corev1.PersistentVolumeSpec, name string, p *field.Path) field.ErrorList {
	return exactlyOne([]alternative{
		source("hostPath", s.HostPath, p, hostPath),
		sourceAt("gcePersistentDisk", s.GCEPersistentDisk, p, "persistentDisk", gcePersistentDisk),
		source("awsElasticBlockStore", s.AWSElasticBlockStore, p, awsElasticBlockStore),
		source("glusterfs", s.Glusterfs, p, persistentGlusterfs),
		source("flocker", s.Flocker, p, flocker),
		source("nfs", s.NFS, p, nfs),
		source("rbd", s.RBD, p, func(r *corev1.RBDPersistentVolumeSource, p *field.Path) field.ErrorList {
			return rbdImage(r.CephMonitors, r.RBDImage, p)
		}),
		source("quobyte", s.Quobyte, p, quobyte),
		sourceAt("cephFS", s.CephFS, p, "cephfs", func(c *corev1.CephFSPersistentVolumeSource, p *field.Path) field.ErrorList {
			return refuse(len(c.Monitors) == 0, field.Required(p.Child("monitors"), ""))
		}),
		alternative{"iscsi", s.ISCSI != nil, func() field.ErrorList { return persistentISCSI(s.ISCSI, name, p.Child("iscsi")) }},
		source("cinder", s.Cinder, p, func(c *corev1.CinderPersistentVolumeSource, p *field.Path) field.ErrorList {
			return concat(required(c.VolumeID, p.Child("volumeID")), when(c.SecretRef, p.Child("secretRef"), secretReference))
		}),
		source("fc", s.FC, p, fibreChannel),
		source("flexVolume", s.FlexVolume, p, func(f *corev1.FlexPersistentVolumeSource, p *field.Path) field.ErrorList {
			return flexVolume(f.Driver, f.Options, p)
		}),
		source("azureFile", s.AzureFile, p, func(a *corev1.AzureFilePersistentVolumeSource, p *field.Path) field.ErrorList {
			return append(azureFile(a.SecretName, a.ShareName, p),
				refuse(a.SecretNamespace != nil && *a.SecretNamespace == "", field.Required(p.Child("secretNamespace"), ""))...)
		}),
		source("vsphereVolume", s.VsphereVolume, p, vsphereVolume),
		source("photonPersistentDisk", s.PhotonPersistentDisk, p, photonDisk),
		source("portworxVolume", s.PortworxVolume, p, portworxVolume),
		source("azureDisk", s.AzureDisk, p, azureDisk),
		source("scaleIO", s.ScaleIO, p, func(o *corev1.ScaleIOPersistentVolumeSource, p *field.Path) field.ErrorList {
			return scaleIO(o.Gateway, o.System, o.VolumeName, p)
		}),
		alternative{"local", s.Local != nil, func() field.ErrorList { return localVolume(s, p) }},
		source("storageos", s.StorageOS, p, func(o *corev1.StorageOSPersistentVolumeSource, p *field.Path) field.ErrorList {
			errs := storageOSNames(o.VolumeName, o.VolumeNamespace, p)
			if o.SecretRef == nil {
				return errs
			}
			return concat(errs, required(o.SecretRef.Name, p.Child("secretRef", "name")), required(o.SecretRef.Namespace, p.Child("secretRef", "namespace")))
		}),
		source("csi", s.CSI, p, persistentCSI),
	}, p, volumeType)
}

func persistentGlusterfs(g *corev1.GlusterfsPersistentVolumeSource, p *field.Path) field.ErrorList {
	errs := concat(required(g.EndpointsName, p.Child("endpoints")), required(g.Path, p.Child("path")))
	at := p.Child("endpointsNamespace")
	switch ns := g.EndpointsNamespace; {
	case ns == nil:
		return errs
	case *ns == "":
		return append(errs, field.Invalid(at, *ns, "if the endpointnamespace is set, it must be a valid namespace name"))
	default:
		return append(errs, named(*ns, at, apivalidation.ValidateNamespaceName)...)
	}
}

func secretReference(r *corev1.SecretReference, p *field.Path) field.ErrorList {
	return concat(required(r.Name, p.Child("name")), required(r.Namespace, p.Child("namespace")))
}

func persistentISCSI(s *corev1.ISCSIPersistentVolumeSource, volume string, p *field.Path) field.ErrorList {
	const form = "must be valid format"
	errs := concat(required(s.TargetPortal, p.Child("targetPortal")),
		refuse(s.InitiatorName != nil && len(volume)+1+len(s.TargetPortal) > 64, field.Invalid(p.Child("targetportal"), s.TargetPortal, iscsiTooLong)),
		iqn(s.IQN, p, form), lun(s.Lun, p),
		refuse((s.DiscoveryCHAPAuth || s.SessionCHAPAuth) && s.SecretRef == nil, field.Required(p.Child("secretRef"), "")),
		when(s.SecretRef, p.Child("secretRef"), func(r *corev1.SecretReference, p *field.Path) field.ErrorList {
			return required(r.Name, p.Child("name"))
		}))
	if s.InitiatorName == nil {
		return errs
	}
	return append(errs, iscsiName(*s.InitiatorName, p.Child("initiatorname"), form)...)
}

// localVolume needs to say on which nodes it is.
func localVolume(s *corev1.PersistentVolumeSpec, p *field.Path) field.ErrorList {
	at := p.Child("local", "path")
	errs := required(s.Local.Path, at)
	if s.Local.Path != "" {
		errs = noBacksteps(s.Local.Path, at)
	}
	return append(errs, refuse(s.NodeAffinity == nil, field.Required(p.Child("nodeAffinity"), "Local volume requires node affinity"))...)
}

func persistentCSI(s *corev1.CSIPersistentVolumeSource, p *field.Path) field.ErrorList {
	secret := func(r *corev1.SecretReference, p *field.Path) field.ErrorList {
		return concat(requiredName(r.Name, p.Child("name"), apivalidation.NameIsDNSSubdomain),
			requiredName(r.Namespace, p.Child("namespace"), apivalidation.NameIsDNSLabel))
	}
	return concat(csiDriverName(s.Driver, p.Child("driver")), required(s.VolumeHandle, p.Child("volumeHandle")),
		when(s.ControllerPublishSecretRef, p.Child("controllerPublishSecretRef"), secret),
		when(s.ControllerExpandSecretRef, p.Child("controllerExpandSecretRef"), secret),
		when(s.NodePublishSecretRef, p.Child("nodePublishSecretRef"), secret),
		when(s.NodeExpandSecretRef, p.Child("nodeExpandSecretRef"), secret))
}
