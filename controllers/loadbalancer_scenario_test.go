package controllers_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLoadBalancers(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		services := c.client.CoreV1().Services("default")
		create := func(name string) {
			service := &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}},
			}
			must(t)(services.Create(c.Context(), service, metav1.CreateOptions{}))
			c.settle(time.Second)
		}
		address := func(name string) string {
			service, err := services.Get(c.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(service.Status.LoadBalancer.Ingress) == 0 {
				return ""
			}
			return service.Status.LoadBalancer.Ingress[0].IP
		}
		create("a")
		create("b")
		if a, b := address("a"), address("b"); a != "172.19.255.1" || b != "172.19.255.2" {
			t.Errorf("addresses %q and %q", a, b)
		}
		must(t)(services.Patch(c.Context(), "a", "application/merge-patch+json", []byte(`{"spec":{"type":"ClusterIP"}}`), metav1.PatchOptions{}))
		c.settle(time.Second)
		if service, err := services.Get(c.Context(), "a", metav1.GetOptions{}); err != nil || address("a") != "" || len(service.Finalizers) != 0 {
			t.Errorf("a ClusterIP Service is left with %+v, %v", service, err)
		}
		create("c")
		if got := address("c"); got != "172.19.255.1" {
			t.Errorf("the third has %q, want the address that came back", got)
		}
		must(t)(nil, services.Delete(c.Context(), "b", metav1.DeleteOptions{}))
		c.settle(time.Second)
		if _, err := services.Get(c.Context(), "b", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("deleted: %v", err)
		}
		if reasons := c.eventReasons("default"); !reasons["EnsuredLoadBalancer"] || !reasons["DeletedLoadBalancer"] {
			t.Errorf("events %v", reasons)
		}
	})
}
