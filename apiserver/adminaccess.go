package apiserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkAdminAccess refuses a new claim on devices that others may be using, or a
// template of one, unless its namespace is marked for that.
func (s *Server) checkAdminAccess(ctx context.Context, obj runtime.Object) field.ErrorList {
	var requests []resourcev1.DeviceRequest
	var namespace string
	switch o := obj.(type) {
	case *resourcev1.ResourceClaim:
		requests, namespace = o.Spec.Devices.Requests, o.Namespace
	case *resourcev1.ResourceClaimTemplate:
		requests, namespace = o.Spec.Spec.Devices.Requests, o.Namespace
	}
	for i, r := range requests {
		if r.Exactly == nil || r.Exactly.AdminAccess == nil || !*r.Exactly.AdminAccess {
			continue
		}
		path := field.NewPath("spec", "devices", "requests").Index(i).Child("adminAccess") // a template's too
		ns, err := cacheLister{s}.Get(ctx, corev1.SchemeGroupVersion.WithResource("namespaces"), "", namespace)
		switch {
		case err != nil:
			return field.ErrorList{field.InternalError(path, fmt.Errorf("could not retrieve namespace to verify admin access: %w", err))}
		case accessorOf(ns).GetLabels()[resourcev1.DRAAdminNamespaceLabelKey] != "true":
			return field.ErrorList{field.Forbidden(path, fmt.Sprintf("admin access to devices requires the `%s: true` label on the containing namespace", resourcev1.DRAAdminNamespaceLabelKey))}
		}
		return nil
	}
	return nil
}
