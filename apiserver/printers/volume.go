package printers

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func persistentVolumeColumns() *Columns {
	spec, status := corev1.PersistentVolumeSpec{}.SwaggerDoc(), corev1.PersistentVolumeStatus{}.SwaggerDoc()
	return columns(func(v *corev1.PersistentVolume, now time.Time) []any {
		claim, phase := "", string(v.Status.Phase)
		if ref := v.Spec.ClaimRef; ref != nil {
			claim = ref.Namespace + "/" + ref.Name
		}
		if v.DeletionTimestamp != nil {
			phase = "Terminating"
		}
		class, ok := v.Annotations[corev1.BetaStorageClassAnnotation]
		if !ok {
			class = v.Spec.StorageClassName
		}
		return []any{
			v.Name, v.Spec.Capacity.Storage().String(), accessModes(v.Spec.AccessModes), string(v.Spec.PersistentVolumeReclaimPolicy), phase,
			claim, class, value(v.Spec.VolumeAttributesClassName, unset), v.Status.Reason, ageOf(v, now), word(v.Spec.VolumeMode, unset),
		}
	},
		name(), text("Capacity", spec["capacity"]), text("Access Modes", spec["accessModes"]),
		text("Reclaim Policy", spec["persistentVolumeReclaimPolicy"]), text("Status", status["phase"]), text("Claim", spec["claimRef"]),
		text("StorageClass", "StorageClass of the pv"), text("VolumeAttributesClass", "VolumeAttributesClass of the pv"),
		text("Reason", status["reason"]), age(), wide(text("VolumeMode", spec["volumeMode"])),
	)
}

func persistentVolumeClaimColumns() *Columns {
	spec, status := corev1.PersistentVolumeClaimSpec{}.SwaggerDoc(), corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()
	return columns(func(c *corev1.PersistentVolumeClaim, now time.Time) []any {
		phase, capacity, modes := string(c.Status.Phase), "", ""
		if c.DeletionTimestamp != nil {
			phase = "Terminating"
		}
		if c.Spec.VolumeName != "" {
			capacity, modes = c.Status.Capacity.Storage().String(), accessModes(c.Status.AccessModes)
		}
		class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]
		if !ok {
			class = value(c.Spec.StorageClassName, "")
		}
		return []any{
			c.Name, phase, c.Spec.VolumeName, capacity, modes, class,
			value(c.Spec.VolumeAttributesClassName, unset), ageOf(c, now), word(c.Spec.VolumeMode, unset),
		}
	},
		name(), text("Status", status["phase"]), text("Volume", spec["volumeName"]), text("Capacity", status["capacity"]),
		text("Access Modes", status["accessModes"]), text("StorageClass", "StorageClass of the pvc"),
		text("VolumeAttributesClass", "VolumeAttributesClass of the pvc"), age(), wide(text("VolumeMode", spec["volumeMode"])),
	)
}

// accessModes abbreviates modes, each once and in this order.
func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var out []string
	for _, m := range []struct {
		mode  corev1.PersistentVolumeAccessMode
		short string
	}{
		{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(modes, m.mode) {
			out = append(out, m.short)
		}
	}
	return strings.Join(out, ",")
}
