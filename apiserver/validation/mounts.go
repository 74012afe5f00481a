package validation

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (c *podContext) volumeMounts(ct *corev1.Container, p *field.Path) field.ErrorList {
	devices, devicePaths := sets.New[string](), sets.New[string]()
	for _, d := range ct.VolumeDevices {
		devices.Insert(d.Name)
		devicePaths.Insert(d.DevicePath)
	}
	paths := sets.New[string]()
	return each(ct.VolumeMounts, p, func(m *corev1.VolumeMount, at *field.Path) field.ErrorList {
		volume, found := c.volumes[m.Name]
		errs := concat(
			required(m.Name, at.Child("name")),
			refuse(!found, field.NotFound(at.Child("name"), m.Name)),
			required(m.MountPath, at.Child("mountPath")),
			refuse(paths.Has(m.MountPath), field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique")),
			refuse(devices.Has(m.Name), field.Invalid(at.Child("name"), m.Name, "must not already exist in volumeDevices")),
			refuse(devicePaths.Has(m.MountPath), field.Invalid(at.Child("mountPath"), m.MountPath, "must not already exist as a path in volumeDevices")),
		)
		paths.Insert(m.MountPath)
		if m.SubPath != "" {
			errs = append(errs, descendingPath(m.SubPath, p.Child("subPath"))...)
		}
		if m.SubPathExpr != "" {
			errs = append(errs, refuse(m.SubPath != "",
				field.Invalid(at.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))...)
			errs = append(errs, descendingPath(m.SubPathExpr, p.Child("subPathExpr"))...)
		}
		if found && volume.Image != nil {
			errs = append(errs, refuse(m.SubPathExpr != "",
				field.Invalid(at.Child("subPathExpr"), m.SubPathExpr, "not allowed in image volume sources"))...)
		}
		return concat(errs,
			mountPropagation(m, ct, p.Child("mountPropagation")),
			recursiveReadOnly(m, p.Child("recursiveReadOnly")))
	})
}

func mountPropagation(m *corev1.VolumeMount, ct *corev1.Container, p *field.Path) field.ErrorList {
	if m.MountPropagation == nil {
		return nil
	}
	privileged := ct.SecurityContext != nil && isTrue(ct.SecurityContext.Privileged)
	return concat(
		supported(*m.MountPropagation, p,
			corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone),
		refuse(*m.MountPropagation == corev1.MountPropagationBidirectional && !privileged,
			field.Forbidden(p, "Bidirectional mount propagation is available only to privileged containers")))
}

func recursiveReadOnly(m *corev1.VolumeMount, p *field.Path) field.ErrorList {
	if m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return nil
	}
	if errs := supported(*m.RecursiveReadOnly, p, corev1.RecursiveReadOnlyDisabled,
		corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible); len(errs) > 0 {
		return errs
	}
	propagates := m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone
	return concat(
		refuse(!m.ReadOnly, field.Forbidden(p, "may only be specified when readOnly is true")),
		refuse(propagates, field.Forbidden(p, "may only be specified when mountPropagation is None or not specified")))
}

func (c *podContext) volumeDevices(ct *corev1.Container, p *field.Path) field.ErrorList {
	mounts, mountPaths := sets.New[string](), sets.New[string]()
	for _, m := range ct.VolumeMounts {
		mounts.Insert(m.Name)
		mountPaths.Insert(m.MountPath)
	}
	names, paths := sets.New[string](), sets.New[string]()
	return each(ct.VolumeDevices, p, func(d *corev1.VolumeDevice, p *field.Path) field.ErrorList {
		name, at := p.Child("name"), p.Child("devicePath")
		volume, found := c.volumes[d.Name]
		claim := found && (volume.PersistentVolumeClaim != nil || volume.Ephemeral != nil)
		climbs := d.DevicePath != "" && len(noBacksteps(d.DevicePath, at)) > 0
		errs := concat(
			required(d.Name, name),
			refuse(names.Has(d.Name), field.Invalid(name, d.Name, "must be unique")),
			refuse(found && !claim, field.Invalid(name, d.Name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")),
			refuse(!found, field.NotFound(name, d.Name)),
			required(d.DevicePath, at),
			refuse(paths.Has(d.DevicePath), field.Invalid(at, d.DevicePath, "must be unique")),
			refuse(climbs, field.Invalid(at, d.DevicePath, "can not contain backsteps ('..')")),
			refuse(mounts.Has(d.Name), field.Invalid(name, d.Name, "must not already exist in volumeMounts")),
			refuse(mountPaths.Has(d.DevicePath), field.Invalid(at, d.DevicePath, "must not already exist as a path in volumeMounts")),
		)
		if !climbs {
			paths.Insert(d.DevicePath)
		}
		if d.Name != "" {
			names.Insert(d.Name)
		}
		return errs
	})
}

// descendingPath is relative and never climbs.
func descendingPath(value string, p *field.Path) field.ErrorList {
	return concat(refuse(path.IsAbs(value), field.Invalid(p, value, "must be a relative path")), noBacksteps(value, p))
}

// localPath is descending and does not start like the hidden names that a
// kubelet uses itself.
func localPath(value string, p *field.Path) field.ErrorList {
	return append(descendingPath(value, p),
		refuse(strings.HasPrefix(value, "..") && !strings.HasPrefix(value, "../"), field.Invalid(p, value, "must not start with '..'"))...)
}

func noBacksteps(value string, p *field.Path) field.ErrorList {
	for part := range strings.SplitSeq(value, "/") {
		if part == ".." {
			return field.ErrorList{field.Invalid(p, value, "must not contain '..'")}
		}
	}
	return nil
}
