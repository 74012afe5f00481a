package validation

import (
	"net"
	"path"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const fileModeRange = "must be a number between 0 and 0777 (octal), both inclusive"

func fileMode(mode *int32, p *field.Path) field.ErrorList {
	if mode == nil {
		return nil
	}
	return refuse(*mode < 0 || *mode > 0o777, field.Invalid(p, *mode, fileModeRange))
}

func emptyDir(s *corev1.EmptyDirVolumeSource, p *field.Path) field.ErrorList {
	return refuse(s.SizeLimit != nil && s.SizeLimit.Sign() < 0,
		field.Forbidden(p.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity"))
}

func hostPath(s *corev1.HostPathVolumeSource, p *field.Path) field.ErrorList {
	if s.Path == "" {
		return field.ErrorList{field.Required(p.Child("path"), "")}
	}
	return append(noBacksteps(s.Path, p.Child("path")),
		when(s.Type, p.Child("type"), func(t *corev1.HostPathType, p *field.Path) field.ErrorList {
			return supported(*t, p, corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory,
				corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket)
		})...)
}

func gitRepo(s *corev1.GitRepoVolumeSource, p *field.Path) field.ErrorList {
	return concat(required(s.Repository, p.Child("repository")), descendingPath(s.Directory, p.Child("directory")))
}

func partition(n int32, p *field.Path) field.ErrorList {
	return refuse(n < 0 || n > 255, field.Invalid(p.Child("partition"), n, validation.InclusiveRangeError(1, 255)))
}

func gcePersistentDisk(s *corev1.GCEPersistentDiskVolumeSource, p *field.Path) field.ErrorList {
	return concat(required(s.PDName, p.Child("pdName")), partition(s.Partition, p))
}

func awsElasticBlockStore(s *corev1.AWSElasticBlockStoreVolumeSource, p *field.Path) field.ErrorList {
	return concat(required(s.VolumeID, p.Child("volumeID")), partition(s.Partition, p))
}

func secretVolume(s *corev1.SecretVolumeSource, p *field.Path) field.ErrorList {
	return concat(required(s.SecretName, p.Child("secretName")), fileMode(s.DefaultMode, p.Child("defaultMode")),
		each(s.Items, p.Child("items"), keyToPath))
}

func configMapVolume(s *corev1.ConfigMapVolumeSource, p *field.Path) field.ErrorList {
	return concat(required(s.Name, p.Child("name")), fileMode(s.DefaultMode, p.Child("defaultMode")),
		each(s.Items, p.Child("items"), keyToPath))
}

func keyToPath(k *corev1.KeyToPath, p *field.Path) field.ErrorList {
	return concat(required(k.Key, p.Child("key")), required(k.Path, p.Child("path")),
		localPath(k.Path, p.Child("path")), fileMode(k.Mode, p.Child("mode")))
}

func nfs(s *corev1.NFSVolumeSource, p *field.Path) field.ErrorList {
	return concat(required(s.Server, p.Child("server")), required(s.Path, p.Child("path")),
		refuse(!path.IsAbs(s.Path), field.Invalid(p.Child("path"), s.Path, "must be an absolute path")))
}

var iscsiNames = []struct {
	prefix string
	form   *regexp.Regexp
}{
	{"iqn", regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`)},
	{"eui", regexp.MustCompile(`^eui.[[:alnum:]]{16}$`)},
	{"naa", regexp.MustCompile(`^naa.[[:alnum:]]{32}$`)},
}

func iscsiName(name string, p *field.Path, unknown string) field.ErrorList {
	for _, n := range iscsiNames {
		if strings.HasPrefix(name, n.prefix) {
			return refuse(!n.form.MatchString(name), field.Invalid(p, name, "must be valid format"))
		}
	}
	return field.ErrorList{field.Invalid(p, name, unknown)}
}

const (
	iscsiNameForms = "must be valid format starting with iqn, eui, or naa"
	iscsiTooLong   = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
)

func iscsiVolume(s *corev1.ISCSIVolumeSource, volume string, parent *field.Path) field.ErrorList {
	p := parent.Child("iscsi")
	errs := concat(required(s.TargetPortal, p.Child("targetPortal")), iqn(s.IQN, p, iscsiNameForms),
		lun(s.Lun, p), refuse((s.DiscoveryCHAPAuth || s.SessionCHAPAuth) && s.SecretRef == nil, field.Required(p.Child("secretRef"), "")))
	if s.InitiatorName != nil {
		errs = append(errs, iscsiName(*s.InitiatorName, p.Child("initiatorname"), iscsiNameForms)...)
		errs = append(errs, refuse(len(volume)+1+len(s.TargetPortal) > 64, field.Invalid(parent.Child("name"), volume, iscsiTooLong))...)
	}
	return errs
}

func iqn(name string, p *field.Path, unknown string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p.Child("iqn"), "")}
	}
	return iscsiName(name, p.Child("iqn"), unknown)
}

func lun(n int32, p *field.Path) field.ErrorList {
	return refuse(n < 0 || n > 255, field.Invalid(p.Child("lun"), n, validation.InclusiveRangeError(0, 255)))
}

func glusterfs(s *corev1.GlusterfsVolumeSource, p *field.Path) field.ErrorList {
	return concat(required(s.EndpointsName, p.Child("endpoints")), required(s.Path, p.Child("path")))
}

func flocker(s *corev1.FlockerVolumeSource, p *field.Path) field.ErrorList {
	return concat(
		refuse(s.DatasetName == "" && s.DatasetUUID == "", field.Required(p, "one of datasetName and datasetUUID is required")),
		refuse(s.DatasetName != "" && s.DatasetUUID != "", field.Invalid(p, "resource", "datasetName and datasetUUID can not be specified simultaneously")),
		refuse(strings.Contains(s.DatasetName, "/"), field.Invalid(p.Child("datasetName"), s.DatasetName, "must not contain '/'")))
}

func rbd(s *corev1.RBDVolumeSource, p *field.Path) field.ErrorList {
	return rbdImage(s.CephMonitors, s.RBDImage, p)
}

func rbdImage(monitors []string, image string, p *field.Path) field.ErrorList {
	return concat(refuse(len(monitors) == 0, field.Required(p.Child("monitors"), "")), required(image, p.Child("image")))
}

func cinder(s *corev1.CinderVolumeSource, p *field.Path) field.ErrorList {
	return concat(required(s.VolumeID, p.Child("volumeID")), when(s.SecretRef, p.Child("secretRef"), localReference))
}

func localReference(r *corev1.LocalObjectReference, p *field.Path) field.ErrorList {
	return required(r.Name, p.Child("name"))
}

func quobyte(s *corev1.QuobyteVolumeSource, p *field.Path) field.ErrorList {
	const form = "must be a host:port pair or multiple pairs separated by commas"
	var errs field.ErrorList
	switch {
	case s.Registry == "":
		errs = append(errs, field.Required(p.Child("registry"), form))
	case len(s.Tenant) >= 65:
		errs = append(errs, field.Required(p.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters"))
	default:
		for pair := range strings.SplitSeq(s.Registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				errs = append(errs, field.Invalid(p.Child("registry"), s.Registry, form))
			}
		}
	}
	return append(errs, required(s.Volume, p.Child("volume"))...)
}

func fibreChannel(s *corev1.FCVolumeSource, p *field.Path) field.ErrorList {
	at := p.Child("targetWWNs")
	errs := concat(
		refuse(len(s.TargetWWNs) == 0 && len(s.WWIDs) == 0, field.Required(at, "must specify either targetWWNs or wwids, but not both")),
		refuse(len(s.TargetWWNs) > 0 && len(s.WWIDs) > 0, field.Invalid(at, s.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously")))
	switch {
	case len(s.TargetWWNs) == 0:
		return errs
	case s.Lun == nil:
		return append(errs, field.Required(p.Child("lun"), "lun is required if targetWWNs is specified"))
	}
	return append(errs, lun(*s.Lun, p)...)
}

func flexVolume(driver string, options map[string]string, p *field.Path) field.ErrorList {
	errs := required(driver, p.Child("driver"))
	for _, key := range sortedKeys(options) {
		domain, _, _ := strings.Cut(key, "/")
		domain = "." + strings.ToLower(domain)
		errs = append(errs, refuse(strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io"),
			field.Invalid(p.Child("options").Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"))...)
	}
	return errs
}

func azureFile(secret, share string, p *field.Path) field.ErrorList {
	return concat(required(secret, p.Child("secretName")), required(share, p.Child("shareName")))
}

func azureDisk(s *corev1.AzureDiskVolumeSource, p *field.Path) field.ErrorList {
	errs := concat(required(s.DiskName, p.Child("diskName")), required(s.DataDiskURI, p.Child("diskURI")),
		when(s.CachingMode, p.Child("cachingMode"), func(m *corev1.AzureDataDiskCachingMode, p *field.Path) field.ErrorList {
			return supported(*m, p, corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite)
		}))
	if s.Kind == nil {
		return errs
	}
	errs = append(errs, supported(*s.Kind, p.Child("kind"), corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk)...)
	prefix, form := "https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	if *s.Kind == corev1.AzureManagedDisk {
		prefix, form = "/subscriptions/", "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	}
	return append(errs, refuse(!strings.HasPrefix(s.DataDiskURI, prefix), field.NotSupported(p.Child("diskURI"), s.DataDiskURI, []string{form}))...)
}

func vsphereVolume(s *corev1.VsphereVirtualDiskVolumeSource, p *field.Path) field.ErrorList {
	return required(s.VolumePath, p.Child("volumePath"))
}

func photonDisk(s *corev1.PhotonPersistentDiskVolumeSource, p *field.Path) field.ErrorList {
	return required(s.PdID, p.Child("pdID"))
}

func portworxVolume(s *corev1.PortworxVolumeSource, p *field.Path) field.ErrorList {
	return required(s.VolumeID, p.Child("volumeID"))
}

func storageOS(s *corev1.StorageOSVolumeSource, p *field.Path) field.ErrorList {
	return concat(storageOSNames(s.VolumeName, s.VolumeNamespace, p), when(s.SecretRef, p.Child("secretRef"), localReference))
}

func storageOSNames(name, namespace string, p *field.Path) field.ErrorList {
	errs := requiredName(name, p.Child("volumeName"), apivalidation.NameIsDNSLabel)
	if namespace != "" {
		errs = append(errs, dnsLabel(namespace, p.Child("volumeNamespace"))...)
	}
	return errs
}

func scaleIO(gateway, system, volume string, p *field.Path) field.ErrorList {
	return concat(required(gateway, p.Child("gateway")), required(system, p.Child("system")), required(volume, p.Child("volumeName")))
}

func csiDriverName(name string, p *field.Path) field.ErrorList {
	return concat(required(name, p), refuse(len(name) > 63, field.TooLong(p, "", 63)),
		invalids(name, p, validation.IsDNS1123Subdomain(strings.ToLower(name))))
}

func csiVolume(s *corev1.CSIVolumeSource, p *field.Path) field.ErrorList {
	errs := csiDriverName(s.Driver, p.Child("driver"))
	if ref := s.NodePublishSecretRef; ref != nil && ref.Name == "" {
		errs = append(errs, field.Required(p.Child("nodePublishSecretRef", "name"), ""))
	} else if ref != nil {
		errs = append(errs, named(ref.Name, p.Child("name"), apivalidation.NameIsDNSSubdomain)...)
	}
	return errs
}
