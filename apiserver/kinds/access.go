package kinds

// review is a kind that is asked and answered, never stored.
func review(kind, resource string) Kind {
	return Kind{Kind: kind, Resource: resource, Verbs: []string{"create"}}
}

func authentication() []Kind {
	return in("authentication.k8s.io", "v1",
		review("SelfSubjectReview", "selfsubjectreviews"),
		review("TokenReview", "tokenreviews"),
	)
}

func authorization() []Kind {
	local := review("LocalSubjectAccessReview", "localsubjectaccessreviews")
	local.Namespaced = true
	return in("authorization.k8s.io", "v1", local,
		review("SelfSubjectAccessReview", "selfsubjectaccessreviews"),
		review("SelfSubjectRulesReview", "selfsubjectrulesreviews"),
		review("SubjectAccessReview", "subjectaccessreviews"),
	)
}

// rbac kinds may be created by PUT, so that a role can be applied without looking first.
func rbac() []Kind {
	return in("rbac.authorization.k8s.io", "v1", each(func(k *Kind) { k.CreateOnUpdate = true },
		Kind{Kind: "ClusterRoleBinding", Resource: "clusterrolebindings"},
		Kind{Kind: "ClusterRole", Resource: "clusterroles"},
		Kind{Kind: "RoleBinding", Resource: "rolebindings", Namespaced: true},
		Kind{Kind: "Role", Resource: "roles", Namespaced: true},
	)...)
}

func certificates() []Kind {
	return in("certificates.k8s.io", "v1",
		Kind{
			Kind: "CertificateSigningRequest", Resource: "certificatesigningrequests", ShortNames: []string{"csr"},
			Fields:       fields("spec.signerName"),
			Subresources: []Subresource{{Name: "approval", Verbs: rewritable()}, status()},
		},
		Kind{
			Kind: "ClusterTrustBundle", Resource: "clustertrustbundles", StorageVersion: "v1beta1",
			Fields: fields("spec.signerName"), ConditionalUpdate: true,
		},
		Kind{
			Kind: "PodCertificateRequest", Resource: "podcertificaterequests", Namespaced: true, StorageVersion: "v1beta1",
			Fields: fields("spec.signerName", "spec.nodeName"), Subresources: []Subresource{status()}, ConditionalUpdate: true,
		},
	)
}
