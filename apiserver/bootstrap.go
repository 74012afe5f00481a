package apiserver

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// bootstrap creates what every cluster begins with, where it is missing.
func (s *Server) bootstrap(ctx context.Context) error {
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := s.ensure(ctx, "namespaces", "", ns); err != nil {
			return err
		}
	}
	return s.ensure(ctx, "services", metav1.NamespaceDefault, apiService())
}

// apiService is the Service through which pods reach the API server.
func apiService() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: "kubernetes", Namespace: metav1.NamespaceDefault,
			Labels: map[string]string{"component": "apiserver", "provider": "kubernetes"},
		},
		Spec: corev1.ServiceSpec{
			ClusterIP: firstServiceIP, ClusterIPs: []string{firstServiceIP},
			Ports: []corev1.ServicePort{{Name: "https", Port: 443, TargetPort: intstr.FromInt32(6443), Protocol: corev1.ProtocolTCP}},
		},
	}
}

// ensure creates a core object unless it is there.
func (s *Server) ensure(ctx context.Context, resource, namespace string, obj runtime.Object) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
	if err != nil {
		return err
	}
	q := &request{w: discard{}, r: r, res: s.table.get("", "v1", resource), verb: "create", namespace: namespace, form: form{media: mediaJSON}}
	if q.res == nil {
		return errNoResource
	}
	q.name = accessorOf(obj).GetName()
	if s.cache.Resource(q.res.prefix).Get(q.res.key(namespace, q.name)) != nil {
		return nil
	}
	if _, err = s.createObject(ctx, q, obj); apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// discard is the ResponseWriter of the server's own requests.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
