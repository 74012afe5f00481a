package apiserver_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Admin access to devices takes a label on the namespace.
func TestAdminAccess(t *testing.T) {
	client := newClient(t, startServer(t))
	for name, labels := range map[string]map[string]string{
		"plain":  nil,
		"wrong":  {resourcev1.DRAAdminNamespaceLabelKey: "yes"},
		"marked": {resourcev1.DRAAdminNamespaceLabelKey: "true"},
	} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		if _, err := client.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, wanted := range []bool{false, true} {
			claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{GenerateName: "c"}}
			claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AdminAccess: &wanted}}}
			_, err := client.ResourceV1().ResourceClaims(name).Create(t.Context(), claim, metav1.CreateOptions{})
			refused := apierrors.IsInvalid(err) && strings.Contains(err.Error(), "spec.devices.requests[0].adminAccess: Forbidden")
			if want := wanted && name != "marked"; refused != want || !want && err != nil {
				t.Errorf("%s, admin access %t: %v", name, wanted, err)
			}
		}
	}
}
