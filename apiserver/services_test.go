package apiserver_test

import (
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func newClient(t *testing.T, url string) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: url, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Services made at the same time never share an address or a node port, and
// what a deleted one held is free again.
func TestServiceAllocation(t *testing.T) {
	client := newClient(t, startServer(t))
	services := client.CoreV1().Services("default")
	const n = 60
	made := make([]*corev1.Service, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			svc, err := services.Create(t.Context(), &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("s%d", i)},
				Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Name: "a", Port: 80}, {Name: "b", Port: 81}}},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			made[i] = svc
		})
	}
	wg.Wait()
	seen := map[string]string{}
	claim := func(what, by string) {
		if other, taken := seen[what]; taken {
			t.Errorf("%s and %s both have %s", other, by, what)
		}
		seen[what] = by
	}
	for _, svc := range made {
		if svc == nil {
			continue
		}
		claim(svc.Spec.ClusterIP, svc.Name)
		for _, p := range svc.Spec.Ports {
			claim(fmt.Sprint(p.NodePort), svc.Name)
		}
	}
	if t.Failed() {
		return
	}
	if err := services.Delete(t.Context(), "s0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	again := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "again"}, Spec: made[0].Spec}
	if _, err := services.Create(t.Context(), again, metav1.CreateOptions{}); err != nil {
		t.Errorf("address and ports of a deleted Service: %v", err)
	}
	if _, err := services.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "taken"}, Spec: made[1].Spec}, metav1.CreateOptions{}); err == nil {
		t.Error("an address that is taken was given out again")
	}
}
