package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxParameters    = 512
	maxParameterSize = 256 << 10
	maxNodeID        = 256
)

// StorageClass holds the rules of storage.k8s.io/v1 StorageClasses, of which only
// what does not touch existing volumes may change.
func StorageClass(c, old *storagev1.StorageClass) field.ErrorList {
	if old != nil {
		fixed := func(same bool, name string) field.ErrorList {
			return refuse(!same, field.Invalid(field.NewPath(name), nil, immutable))
		}
		return concat(metaUpdate(&c.ObjectMeta, &old.ObjectMeta),
			allowedTopologies(c.AllowedTopologies, field.NewPath("allowedTopologies")),
			fixed(c.Provisioner == old.Provisioner, "provisioner"),
			fixed(sameValue(c.Parameters, old.Parameters), "parameters"),
			fixed(sameValue(c.ReclaimPolicy, old.ReclaimPolicy), "reclaimPolicy"),
			fixed(sameValue(c.VolumeBindingMode, old.VolumeBindingMode), "volumeBindingMode"))
	}
	errs := metaCreate(&c.ObjectMeta, clusterScoped, apivalidation.NameIsDNSSubdomain)
	if c.Provisioner != "" {
		errs = append(errs, invalids(c.Provisioner, field.NewPath("provisioner"), validation.IsQualifiedName(strings.ToLower(c.Provisioner)))...)
	}
	errs = append(errs, concat(classParams(c.Parameters, true),
		when(c.ReclaimPolicy, field.NewPath("reclaimPolicy"), func(r *corev1.PersistentVolumeReclaimPolicy, p *field.Path) field.ErrorList {
			if *r == "" {
				return nil
			}
			return supported(*r, p, corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)
		}))...)
	if at := field.NewPath("volumeBindingMode"); c.VolumeBindingMode == nil {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, supported(*c.VolumeBindingMode, at, storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)...)
	}
	return concat(errs, allowedTopologies(c.AllowedTopologies, field.NewPath("allowedTopologies")),
		required(c.Provisioner, field.NewPath("provisioner")))
}

func classParams(params map[string]string, mayBeEmpty bool) field.ErrorList {
	p := field.NewPath("parameters")
	if len(params) > maxParameters {
		return field.ErrorList{field.TooLong(p, "", maxParameters)}
	}
	errs := refuse(!mayBeEmpty && len(params) == 0, field.Required(p, "must contain at least one key/value pair"))
	size := 0
	for _, key := range sortedKeys(params) {
		errs = append(errs, refuse(key == "", field.Invalid(p, key, "field can not be empty."))...)
		size += len(key) + len(params[key])
	}
	return append(errs, refuse(size > maxParameterSize, field.TooLong(p, "", maxParameterSize))...)
}

func allowedTopologies(terms []corev1.TopologySelectorTerm, p *field.Path) field.ErrorList {
	var seen []map[string]sets.Set[string]
	return each(terms, p, func(t *corev1.TopologySelectorTerm, p *field.Path) field.ErrorList {
		at := p.Child("matchLabelExpressions")
		raw := map[string]sets.Set[string]{}
		errs := each(t.MatchLabelExpressions, at, func(r *corev1.TopologySelectorLabelRequirement, p *field.Path) field.ErrorList {
			values := p.Child("values")
			errs := concat(refuse(len(r.Values) == 0, field.Required(values, "")), repeated(r.Values, values, func(i int) any { return r.Values[i] }),
				metav1validation.ValidateLabelName(r.Key, p.Child("key")))
			if _, twice := raw[r.Key]; twice {
				errs = append(errs, field.Duplicate(p.Child("key"), r.Key))
			}
			raw[r.Key] = sets.New(r.Values...)
			return errs
		})
		for _, other := range seen {
			errs = append(errs, refuse(sameValue(raw, other), field.Duplicate(at, ""))...)
		}
		seen = append(seen, raw)
		return errs
	})
}

// VolumeAttributesClass holds the rules of storage.k8s.io/v1 VolumeAttributesClasses.
func VolumeAttributesClass(c, old *storagev1.VolumeAttributesClass) field.ErrorList {
	driver := field.NewPath("driverName")
	if old != nil {
		return concat(metaUpdate(&c.ObjectMeta, &old.ObjectMeta), unchanged(c.DriverName, old.DriverName, driver),
			unchanged(c.Parameters, old.Parameters, field.NewPath("parameters")))
	}
	errs := metaCreate(&c.ObjectMeta, clusterScoped, apivalidation.NameIsDNSSubdomain)
	if c.DriverName == "" {
		errs = append(errs, field.Required(driver, ""))
	} else {
		errs = append(errs, invalids(c.DriverName, driver, validation.IsQualifiedName(strings.ToLower(c.DriverName)))...)
	}
	return append(errs, classParams(c.Parameters, false)...)
}

// VolumeAttachment holds the rules of storage.k8s.io/v1 VolumeAttachments, whose
// spec never changes.
func VolumeAttachment(a, old *storagev1.VolumeAttachment) field.ErrorList {
	s, p := &a.Spec, field.NewPath("spec")
	if old != nil {
		return append(metaUpdate(&a.ObjectMeta, &old.ObjectMeta), refuse(!sameValue(a.Spec, old.Spec), field.Invalid(p, nil, immutable))...)
	}
	errs := metaCreate(&a.ObjectMeta, clusterScoped, apivalidation.NameIsDNSSubdomain)
	source, name := p.Child("source"), s.Source.PersistentVolumeName
	const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch inline := s.Source.InlineVolumeSpec; {
	case inline == nil && name == nil:
		errs = append(errs, field.Required(source, one))
	case inline != nil && name != nil:
		errs = append(errs, field.Forbidden(source, one))
	case name != nil:
		errs = append(errs, refuse(*name == "", field.Required(source.Child("persistentVolumeName"), "must specify non empty persistentVolumeName"))...)
	}
	return concat(errs, named(s.NodeName, p.Child("nodeName"), apivalidation.NameIsDNSSubdomain), csiDriverName(s.Attacher, p.Child("attacher")))
}

// VolumeAttachmentStatus holds the rules of a write to volumeattachments/status.
func VolumeAttachmentStatus(a, old *storagev1.VolumeAttachment) field.ErrorList {
	return metaUpdate(&a.ObjectMeta, &old.ObjectMeta)
}

// CSIStorageCapacity holds the rules of storage.k8s.io/v1 CSIStorageCapacities.
func CSIStorageCapacity(c, old *storagev1.CSIStorageCapacity) field.ErrorList {
	var errs field.ErrorList
	if old != nil {
		errs = metaUpdate(&c.ObjectMeta, &old.ObjectMeta)
	}
	errs = append(errs, concat(metaCreate(&c.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain),
		labelSelector(c.NodeTopology, field.NewPath("nodeTopology")),
		named(c.StorageClassName, field.NewPath("storageClassName"), apivalidation.NameIsDNSSubdomain))...)
	if c.Capacity != nil {
		errs = append(errs, nonNegativeQuantity(*c.Capacity, field.NewPath("capacity"))...)
	}
	if c.MaximumVolumeSize != nil {
		errs = append(errs, nonNegativeQuantity(*c.MaximumVolumeSize, field.NewPath("maximumVolumeSize"))...)
	}
	if old == nil {
		return errs
	}
	return concat(errs, unchanged(c.NodeTopology, old.NodeTopology, field.NewPath("nodeTopology")),
		unchanged(c.StorageClassName, old.StorageClassName, field.NewPath("storageClassName")))
}
