package printers

import (
	"time"

	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations that mark a class as the default one, the current and the beta form.
const (
	defaultClass     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClass = "storageclass.beta.kubernetes.io/is-default-class"
)

func storageClassColumns() *Columns {
	doc := storagev1.StorageClass{}.SwaggerDoc()
	return columns(func(c *storagev1.StorageClass, now time.Time) []any {
		shown := c.Name
		if c.Annotations[defaultClass] == "true" || c.Annotations[betaDefaultClass] == "true" {
			shown += " (default)"
		}
		return []any{
			shown, c.Provisioner, word(c.ReclaimPolicy, "Delete"), word(c.VolumeBindingMode, string(storagev1.VolumeBindingImmediate)),
			value(c.AllowVolumeExpansion, false), ageOf(c, now),
		}
	},
		name(), text("Provisioner", doc["provisioner"]), text("ReclaimPolicy", doc["reclaimPolicy"]),
		text("VolumeBindingMode", doc["volumeBindingMode"]), text("AllowVolumeExpansion", doc["allowVolumeExpansion"]), age(),
	)
}

func volumeAttributesClassColumns() *Columns {
	return columns(func(c *storagev1.VolumeAttributesClass, now time.Time) []any {
		return []any{c.Name, c.DriverName, ageOf(c, now)}
	},
		name(), text("DriverName", storagev1.VolumeAttributesClass{}.SwaggerDoc()["driverName"]), age(),
	)
}

func volumeAttachmentColumns() *Columns {
	spec := storagev1.VolumeAttachmentSpec{}.SwaggerDoc()
	return columns(func(a *storagev1.VolumeAttachment, now time.Time) []any {
		return []any{
			a.Name, a.Spec.Attacher, value(a.Spec.Source.PersistentVolumeName, ""), a.Spec.NodeName, a.Status.Attached, ageOf(a, now),
		}
	},
		name(), named(text("Attacher", spec["attacher"])),
		text("PV", storagev1.VolumeAttachmentSource{}.SwaggerDoc()["persistentVolumeName"]), text("Node", spec["nodeName"]),
		boolean("Attached", storagev1.VolumeAttachmentStatus{}.SwaggerDoc()["attached"]), age(),
	)
}

func csiNodeColumns() *Columns {
	return columns(func(n *storagev1.CSINode, now time.Time) []any {
		return []any{n.Name, len(n.Spec.Drivers), ageOf(n, now)}
	},
		name(), number("Drivers", "Drivers indicates the number of CSI drivers registered on the node"), age(),
	)
}

func csiDriverColumns() *Columns {
	doc := storagev1.CSIDriverSpec{}.SwaggerDoc()
	return columns(func(d *storagev1.CSIDriver, now time.Time) []any {
		tokens := unset
		if d.Spec.TokenRequests != nil {
			tokens = join(d.Spec.TokenRequests, func(t storagev1.TokenRequest) string { return t.Audience })
		}
		modes := join(d.Spec.VolumeLifecycleModes, func(m storagev1.VolumeLifecycleMode) string { return string(m) })
		return []any{
			d.Name, value(d.Spec.AttachRequired, true), value(d.Spec.PodInfoOnMount, false), value(d.Spec.StorageCapacity, false),
			tokens, value(d.Spec.RequiresRepublish, false), or(modes, none), ageOf(d, now),
		}
	},
		name(), boolean("AttachRequired", doc["attachRequired"]), boolean("PodInfoOnMount", doc["podInfoOnMount"]),
		boolean("StorageCapacity", doc["storageCapacity"]), text("TokenRequests", doc["tokenRequests"]),
		boolean("RequiresRepublish", doc["requiresRepublish"]), text("Modes", doc["volumeLifecycleModes"]), age(),
	)
}

func csiStorageCapacityColumns() *Columns {
	doc := storagev1.CSIStorageCapacity{}.SwaggerDoc()
	return columns(func(c *storagev1.CSIStorageCapacity, _ time.Time) []any {
		capacity := unset
		if c.Capacity != nil {
			capacity = c.Capacity.String()
		}
		return []any{c.Name, c.StorageClassName, capacity}
	},
		name(), text("StorageClassName", doc["storageClassName"]), text("Capacity", doc["capacity"]),
	)
}

func storageVersionMigrationColumns() *Columns {
	return columns(func(m *storagemigrationv1.StorageVersionMigration, _ time.Time) []any {
		return []any{m.Name, m.Spec.Resource.Resource + "." + m.Spec.Resource.Group}
	},
		text("Name", metav1.ObjectMeta{}.SwaggerDoc()["name"]), text("Resource", "Fully qualified resource to migrate"),
	)
}
