package apiserver_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A write that changes nothing is no write; but whether it changes something, and
// whether the object is still there, is decided on the newest state.
func TestWriteOfNothing(t *testing.T) {
	client := newClient(t, startServer(t))
	maps := client.CoreV1().ConfigMaps("default")
	for range 200 {
		made := createConfigMaps(t, client, "default", 1)
		same, err := maps.Update(t.Context(), made, metav1.UpdateOptions{})
		if err != nil || same.ResourceVersion != made.ResourceVersion {
			t.Fatalf("got revision %s and %v, want %s", same.ResourceVersion, err, made.ResourceVersion)
		}
		if err := maps.Delete(t.Context(), made.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := maps.Update(t.Context(), made, metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
			t.Fatalf("an update of what is gone gave %v", err)
		}
	}
}
