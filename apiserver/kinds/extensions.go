package kinds

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/apiserver/strategy"
)

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
		Terminate: func(obj runtime.Object, now metav1.Time) {
			strategy.TerminateCustomResourceDefinition(obj.(*apiextensionsv1.CustomResourceDefinition), now)
		},
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
