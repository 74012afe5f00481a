package kinds

func batch() []Kind {
	return in("batch", "v1",
		Kind{
			Kind: "CronJob", Resource: "cronjobs", Namespaced: true, ShortNames: []string{"cj"}, Categories: []string{"all"},
			Subresources: []Subresource{status()}, Generation: true,
		},
		Kind{
			Kind: "Job", Resource: "jobs", Namespaced: true, Categories: []string{"all"},
			Fields:       []Field{{Name: "status.successful", Path: "status.succeeded", Default: "0"}},
			Subresources: []Subresource{status()}, Generation: true, OrphanByDefault: true,
		},
	)
}

func autoscaling() []Kind {
	hpa := Kind{
		Kind: "HorizontalPodAutoscaler", Resource: "horizontalpodautoscalers", Namespaced: true,
		ShortNames: []string{"hpa"}, Categories: []string{"all"},
		Subresources: []Subresource{status()}, Generation: true,
	}
	v1 := hpa
	v1.Storage = horizontalPodAutoscalerV1()
	return append(in("autoscaling", "v2", hpa), in("autoscaling", "v1", v1)...)
}

func policy() []Kind {
	return in("policy", "v1", Kind{
		Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true, ShortNames: []string{"pdb"},
		Subresources: []Subresource{status()}, Generation: true, ConditionalUpdate: true,
	})
}

func scheduling() []Kind {
	return in("scheduling.k8s.io", "v1",
		Kind{Kind: "PriorityClass", Resource: "priorityclasses", ShortNames: []string{"pc"}, Generation: true})
}

func node() []Kind {
	return in("node.k8s.io", "v1", Kind{Kind: "RuntimeClass", Resource: "runtimeclasses", ConditionalUpdate: true})
}

func coordination() []Kind {
	return in("coordination.k8s.io", "v1",
		Kind{Kind: "Lease", Resource: "leases", Namespaced: true, CreateOnUpdate: true, ConditionalUpdate: true})
}

// dynamicResources are the group resource.k8s.io; its kinds answer DELETE with the object.
func dynamicResources() []Kind {
	return in("resource.k8s.io", "v1", each(func(k *Kind) { k.ReturnDeleted = true },
		Kind{Kind: "DeviceClass", Resource: "deviceclasses", Generation: true},
		Kind{
			Kind: "DeviceTaintRule", Resource: "devicetaintrules", Subresources: []Subresource{status()},
			Generation: true, StorageVersion: "v1beta2",
		},
		Kind{Kind: "ResourceClaim", Resource: "resourceclaims", Namespaced: true, Subresources: []Subresource{status()}},
		Kind{Kind: "ResourceClaimTemplate", Resource: "resourceclaimtemplates", Namespaced: true},
		Kind{Kind: "ResourceSlice", Resource: "resourceslices", Generation: true, Fields: fields("spec.nodeName", "spec.driver")},
	)...)
}
