package kinds

// extension is the category of what extends the API server itself.
const extension = "api-extensions"

func admissionregistration() []Kind {
	return in("admissionregistration.k8s.io", "v1", each(extends,
		Kind{Kind: "MutatingAdmissionPolicy", Resource: "mutatingadmissionpolicies"},
		Kind{Kind: "MutatingAdmissionPolicyBinding", Resource: "mutatingadmissionpolicybindings"},
		Kind{Kind: "MutatingWebhookConfiguration", Resource: "mutatingwebhookconfigurations"},
		Kind{Kind: "ValidatingAdmissionPolicy", Resource: "validatingadmissionpolicies", Subresources: []Subresource{status()}},
		Kind{Kind: "ValidatingAdmissionPolicyBinding", Resource: "validatingadmissionpolicybindings"},
		Kind{Kind: "ValidatingWebhookConfiguration", Resource: "validatingwebhookconfigurations"},
	)...)
}

func apiextensions() []Kind {
	return in("apiextensions.k8s.io", "v1", each(extends, Kind{
		Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions", ShortNames: []string{"crd", "crds"},
		Subresources: []Subresource{status()},
	})...)
}

func apiregistration() []Kind {
	return in("apiregistration.k8s.io", "v1", Kind{
		Kind: "APIService", Resource: "apiservices", Categories: []string{extension},
		Subresources: []Subresource{status()}, ConditionalUpdate: true,
	})
}

func extends(k *Kind) {
	k.Categories, k.Generation, k.ConditionalUpdate = []string{extension}, true, true
}
