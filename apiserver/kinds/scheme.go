package kinds

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Scheme knows the Go type of every built-in kind, and of what the server
// answers with beside them: Status, Table, PartialObjectMetadata.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	add := runtime.NewSchemeBuilder(
		scheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, metav1.AddMetaToScheme,
	)
	// Registering generated types fails only on a contradiction between the
	// libraries that were linked, which no caller can mend.
	if err := add.AddToScheme(s); err != nil {
		panic(err)
	}
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	return s
}
