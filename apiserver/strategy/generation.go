package strategy

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// count raises the generation of an object if what counts has changed, however
// often it is called.
func count(obj, old metav1.Object, before, now any) {
	if !equality.Semantic.DeepEqual(before, now) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
}

// EndpointSlice counts changes of endpoints, ports and labels. Empty lists are
// stored as none.
func EndpointSlice(slice, old *discoveryv1.EndpointSlice) {
	emptyIsNone(&slice.Endpoints)
	emptyIsNone(&slice.Ports)
	if old == nil {
		return
	}
	count(slice, old, old.Endpoints, slice.Endpoints)
	count(slice, old, old.Ports, slice.Ports)
	count(slice, old, old.AddressType, slice.AddressType)
	count(slice, old, old.Labels, slice.Labels)
}

// ValidatingWebhookConfiguration counts changes of webhooks.
func ValidatingWebhookConfiguration(configuration, old *admissionv1.ValidatingWebhookConfiguration) {
	if old != nil {
		count(configuration, old, old.Webhooks, configuration.Webhooks)
	}
}

// MutatingWebhookConfiguration counts changes of webhooks.
func MutatingWebhookConfiguration(configuration, old *admissionv1.MutatingWebhookConfiguration) {
	if old != nil {
		count(configuration, old, old.Webhooks, configuration.Webhooks)
	}
}

// CSIDriver counts changes of what the kubelet must look at again, from none.
func CSIDriver(driver, old *storagev1.CSIDriver) {
	if old != nil {
		count(driver, old, old.Spec.TokenRequests, driver.Spec.TokenRequests)
		count(driver, old, old.Spec.RequiresRepublish, driver.Spec.RequiresRepublish)
	}
}

// MetaForStatus keeps the metadata of old on a write to status, for the kinds
// that are listed in the package comment.
func MetaForStatus(obj, old metav1.Object) {
	obj.SetLabels(old.GetLabels())
	obj.SetAnnotations(old.GetAnnotations())
	obj.SetFinalizers(old.GetFinalizers())
	obj.SetOwnerReferences(old.GetOwnerReferences())
}
