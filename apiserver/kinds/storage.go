package kinds

// storage answers DELETE with the object, as the kinds of volumes in core do.
func storage() []Kind {
	return in("storage.k8s.io", "v1", each(func(k *Kind) { k.ReturnDeleted = true },
		Kind{Kind: "CSIDriver", Resource: "csidrivers", ConditionalUpdate: true},
		Kind{Kind: "CSINode", Resource: "csinodes", ConditionalUpdate: true},
		Kind{Kind: "CSIStorageCapacity", Resource: "csistoragecapacities", Namespaced: true, ConditionalUpdate: true},
		Kind{Kind: "StorageClass", Resource: "storageclasses", ShortNames: []string{"sc"}},
		Kind{
			Kind: "VolumeAttachment", Resource: "volumeattachments",
			Subresources: []Subresource{status()}, ConditionalUpdate: true,
		},
		Kind{Kind: "VolumeAttributesClass", Resource: "volumeattributesclasses", ShortNames: []string{"vac"}},
	)...)
}

func storagemigration() []Kind {
	return in("storagemigration.k8s.io", "v1", Kind{
		Kind: "StorageVersionMigration", Resource: "storageversionmigrations", StorageVersion: "v1beta1",
		Subresources: []Subresource{status()}, ConditionalUpdate: true,
	})
}
