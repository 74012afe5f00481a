package validation

import (
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}

// PersistentVolumeClaim holds the rules of core/v1 PersistentVolumeClaims. Once
// made a claim is fixed, but for its size and its class of attributes once bound.
func PersistentVolumeClaim(pvc, old *corev1.PersistentVolumeClaim) field.ErrorList {
	errs := metaBoth(&pvc.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain)
	errs = append(errs, claimSpec(&pvc.Spec, field.NewPath("spec"))...)
	if old != nil {
		errs = append(errs, claimUpdate(pvc, old)...)
	}
	return errs
}

func claimSpec(s *corev1.PersistentVolumeClaimSpec, p *field.Path) field.ErrorList {
	errs := refuse(len(s.AccessModes) == 0, field.Required(p.Child("accessModes"), "at least 1 access mode is required"))
	if s.Selector != nil {
		errs = append(errs, labelSelector(s.Selector, p.Child("selector"))...)
	}
	errs = append(errs, concat(accessModeList(s.AccessModes, p.Child("accessModes")), claimSize(s, p.Child("resources").Key("storage")))...)
	if s.StorageClassName != nil && *s.StorageClassName != "" {
		errs = append(errs, named(*s.StorageClassName, p.Child("storageClassName"), apivalidation.NameIsDNSSubdomain)...)
	}
	errs = append(errs, concat(when(s.VolumeMode, p.Child("volumeMode"), volumeMode), dataSources(s, p))...)
	if s.VolumeAttributesClassName != nil && *s.VolumeAttributesClassName != "" {
		errs = append(errs, named(*s.VolumeAttributesClassName, p.Child("volumeAttributesClassName"), apivalidation.NameIsDNSSubdomain)...)
	}
	return errs
}

func accessModeList(modes []corev1.PersistentVolumeAccessMode, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	single, other := false, false
	for _, m := range modes {
		errs = append(errs, supported(m, p, accessModes...)...)
		single = single || m == corev1.ReadWriteOncePod
		other = other || (m != corev1.ReadWriteOncePod && slices.Contains(accessModes, m))
	}
	return append(errs, refuse(single && other, field.Forbidden(p, "may not use ReadWriteOncePod with other access modes"))...)
}

func claimSize(s *corev1.PersistentVolumeClaimSpec, p *field.Path) field.ErrorList {
	size, ok := s.Resources.Requests[corev1.ResourceStorage]
	if !ok {
		return field.ErrorList{field.Required(p, "")}
	}
	return positiveQuantity(size, p)
}

func volumeMode(m *corev1.PersistentVolumeMode, p *field.Path) field.ErrorList {
	return supported(*m, p, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)
}

func dataSources(s *corev1.PersistentVolumeClaimSpec, p *field.Path) field.ErrorList {
	source, ref := s.DataSource, s.DataSourceRef
	var errs field.ErrorList
	if source != nil {
		errs = append(errs, dataSource(source.Name, source.Kind, source.APIGroup, p.Child("dataSource"))...)
	}
	if ref == nil {
		return errs
	}
	errs = append(errs, dataSource(ref.Name, ref.Kind, ref.APIGroup, p.Child("dataSourceRef"))...)
	elsewhere := ref.Namespace != nil && *ref.Namespace != ""
	if elsewhere {
		errs = append(errs, named(*ref.Namespace, p.Child("dataSourceRef", "namespace"), apivalidation.ValidateNamespaceName)...)
	}
	if source == nil {
		return errs
	}
	same := reflect.DeepEqual(source.APIGroup, ref.APIGroup) && source.Kind == ref.Kind && source.Name == ref.Name
	return append(errs, concat(
		refuse(elsewhere, field.Invalid(p, p.Child("dataSource"), "may not be specified when dataSourceRef.namespace is specified")),
		refuse(!elsewhere && !same, field.Invalid(p, p.Child("dataSource"), "must match dataSourceRef")))...)
}

func dataSource(name, kind string, group *string, p *field.Path) field.ErrorList {
	errs := concat(required(name, p.Child("name")), required(kind, p.Child("kind")))
	if group == nil || *group == "" {
		return append(errs, refuse(kind != "PersistentVolumeClaim",
			field.Invalid(p, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))...)
	}
	return append(errs, dnsSubdomain(*group, p.Child("apiGroup"))...)
}

func claimUpdate(pvc, old *corev1.PersistentVolumeClaim) field.ErrorList {
	const annotation = corev1.BetaStorageClassAnnotation
	p := field.NewPath("spec")
	now, was := pvc.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" { // binding sets it once
		was.VolumeName = now.VolumeName
	}
	var errs field.ErrorList
	oldClass, annotated := old.Annotations[annotation]
	class, stillAnnotated := pvc.Annotations[annotation]
	chosen := was.StorageClassName == nil && now.StorageClassName != nil
	if annotated && chosen && *now.StorageClassName == oldClass && (!stillAnnotated || class == oldClass) {
		now.StorageClassName = nil // moves from the annotation to the field
	} else {
		errs = append(errs, refuse(class != oldClass, field.Invalid(field.NewPath("metadata", "annotations", annotation), class, immutable))...)
		if chosen && (!annotated || *now.StorageClassName == oldClass) {
			now.StorageClassName = nil // a default class is given later
		}
	}
	if pvc.Status.Phase == corev1.ClaimBound {
		if now.Resources.Requests != nil {
			now.Resources.Requests[corev1.ResourceStorage] = old.Spec.Resources.Requests[corev1.ResourceStorage]
		}
		if now.VolumeAttributesClassName != nil {
			now.VolumeAttributesClassName = was.VolumeAttributesClassName
		}
	}
	if !sameValue(*now, *was) {
		errs = append(errs, field.Forbidden(p, fmt.Sprintf(
			"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n%v", difference(*was, *now))))
	}
	return concat(errs, shrink(pvc, old, p), unchanged(pvc.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode")),
		attributesClassUpdate(pvc.Spec.VolumeAttributesClassName, old.Spec.VolumeAttributesClassName, p.Child("volumeAttributesClassName")))
}

// shrink lets a claim go back from an expansion that failed, never below what it has.
func shrink(pvc, old *corev1.PersistentVolumeClaim, p *field.Path) field.ErrorList {
	now, was := pvc.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	return refuse(now.Cmp(was) < 0 && now.Cmp(old.Status.Capacity[corev1.ResourceStorage]) <= 0,
		field.Forbidden(p.Child("resources", "requests", "storage"), "field can not be less than status.capacity"))
}

func attributesClassUpdate(now, old *string, p *field.Path) field.ErrorList {
	switch {
	case old == nil:
		return nil
	case now == nil:
		return field.ErrorList{field.Forbidden(p, "update from non-nil value to nil is forbidden")}
	}
	return refuse(*now == "" && *old != "", field.Forbidden(p, "update from non-nil value to an empty string is forbidden"))
}

// PersistentVolumeClaimStatus holds the rules of a write to persistentvolumeclaims/status.
func PersistentVolumeClaimStatus(pvc, old *corev1.PersistentVolumeClaim) field.ErrorList {
	p := field.NewPath("status")
	errs := concat(metaUpdate(&pvc.ObjectMeta, &old.ObjectMeta),
		refuse(len(pvc.Spec.AccessModes) == 0, field.Required(field.NewPath("Spec", "accessModes"), "")))
	for _, name := range sortedKeys(pvc.Status.Capacity) {
		errs = append(errs, basicResource(pvc.Status.Capacity, name, p.Child("capacity"))...)
	}
	at := p.Child("allocatedResourceStatus")
	for _, name := range sortedKeys(pvc.Status.AllocatedResourceStatuses) {
		errs = append(errs, claimResourceName(name, at)...)
		if !slices.Contains(resizeStatuses, pvc.Status.AllocatedResourceStatuses[name]) {
			errs = append(errs, field.NotSupported(at, name, resizeStatuses))
		}
	}
	at = p.Child("allocatedResources")
	for _, name := range sortedKeys(pvc.Status.AllocatedResources) {
		if wrong := claimResourceName(name, at); len(wrong) > 0 {
			errs = append(errs, wrong...)
			continue
		}
		errs = append(errs, basicResource(pvc.Status.AllocatedResources, name, at)...)
	}
	return errs
}

var resizeStatuses = []corev1.ClaimResourceStatus{
	corev1.PersistentVolumeClaimControllerResizeInfeasible, corev1.PersistentVolumeClaimControllerResizeInProgress,
	corev1.PersistentVolumeClaimNodeResizeInfeasible, corev1.PersistentVolumeClaimNodeResizeInProgress,
	corev1.PersistentVolumeClaimNodeResizePending,
}

func basicResource(list corev1.ResourceList, name corev1.ResourceName, p *field.Path) field.ErrorList {
	q := list[name]
	return refuse(q.Value() < 0, field.Invalid(p.Key(string(name)), q.Value(), "must be a valid resource quantity"))
}

func claimResourceName(name corev1.ResourceName, p *field.Path) field.ErrorList {
	if errs := invalids(string(name), p, validation.IsQualifiedName(string(name))); len(errs) > 0 {
		return errs
	}
	return refuse(isNative(name) && name != corev1.ResourceStorage,
		field.NotSupported(p, string(name), []corev1.ResourceName{corev1.ResourceStorage}))
}
