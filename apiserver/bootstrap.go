package apiserver

import (
	"context"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubesim/kubesim/apiserver/admission"
)

// bootstrap creates what every cluster begins with, where it is missing.
func (s *Server) bootstrap(ctx context.Context) error {
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := s.ensure(ctx, corev1.SchemeGroupVersion.WithResource("namespaces"), ns); err != nil {
			return err
		}
	}
	for _, class := range admission.SystemPriorityClasses() {
		if err := s.ensure(ctx, schedulingv1.SchemeGroupVersion.WithResource("priorityclasses"), class); err != nil {
			return err
		}
	}
	if err := s.ensure(ctx, corev1.SchemeGroupVersion.WithResource("services"), apiService()); err != nil {
		return err
	}
	if s.authorizer == nil {
		return nil
	}
	return s.bootstrapPolicy(ctx)
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

// ensure creates an object unless it is there.
func (s *Server) ensure(ctx context.Context, gvr schema.GroupVersionResource, obj runtime.Object) error {
	m := accessorOf(obj)
	q, err := s.ownRequest(ctx, gvr, m.GetNamespace(), m.GetName())
	if err != nil {
		return err
	}
	if s.cache.Resource(q.res.prefix).Get(q.res.key(q.namespace, q.name)) != nil {
		return nil
	}
	if _, err = s.createObject(ctx, q, obj); apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// ownRequest is a request that the server makes of itself.
func (s *Server) ownRequest(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (*request, error) {
	res := s.table.get(gvr.Group, gvr.Version, gvr.Resource)
	if res == nil {
		return nil, errNoResource
	}
	return s.requestOn(ctx, res, namespace, name)
}

// requestOn is a request of the server's own on a resource that need not be in the table.
func (s *Server) requestOn(ctx context.Context, res *resource, namespace, name string) (*request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
	if err != nil {
		return nil, err
	}
	return &request{w: discard{}, r: r, res: res, verb: "create", query: url.Values{}, namespace: namespace, name: name, form: form{media: mediaJSON}}, nil
}

// discard is the ResponseWriter of the server's own requests.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
