package apiserver

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resolveService finds where to reach a Service that a webhook or an APIService names.
// There is no network that leads from a cluster address to the pods, so it is the
// address of one that is ready, or the external name.
func (s *Server) resolveService(ctx context.Context, namespace, name string, port int32) (*url.URL, error) {
	lister := cacheLister{s}
	obj, err := lister.Get(ctx, corev1.SchemeGroupVersion.WithResource("services"), namespace, name)
	if err != nil {
		if apierrors.IsNotFound(err) { // in a namespace that is told in the context
			return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "service"}, name)
		}
		return nil, err
	}
	service := obj.(*corev1.Service)
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		return httpsURL(service.Spec.ExternalName, port), nil
	}
	wanted, err := servicePort(service, port)
	if err != nil {
		return nil, err
	}
	slices, err := lister.List(ctx, discoveryv1.SchemeGroupVersion.WithResource("endpointslices"), namespace)
	if err != nil {
		return nil, err
	}
	found := false
	for _, obj := range slices {
		slice := obj.(*discoveryv1.EndpointSlice)
		if slice.Labels[discoveryv1.LabelServiceName] != name {
			continue
		}
		found = true
		if u := endpointOf(slice, wanted.Name); u != nil {
			return u, nil
		}
	}
	if !found {
		return nil, unavailable("EndpointsNotFound", "cannot find endpointslices for service/%s in %q", name, namespace)
	}
	return nil, unavailable("MissingEndpoints", "endpointslices for service/%s in %q have no addresses with port name %q", name, namespace, wanted.Name)
}

// serviceError is why a Service leads nowhere, with the reason that a condition gives.
type serviceError struct{ reason, message string }

func (e *serviceError) Error() string { return e.message }

func unavailable(reason, format string, args ...any) error {
	return &serviceError{reason, fmt.Sprintf(format, args...)}
}

func servicePort(service *corev1.Service, port int32) (*corev1.ServicePort, error) {
	for i, p := range service.Spec.Ports {
		if p.Port == port {
			return &service.Spec.Ports[i], nil
		}
	}
	return nil, unavailable("ServicePortError", "service/%s in %q is not listening on port %d", service.Name, service.Namespace, port)
}

// endpointOf is the address of the first endpoint that is ready, nil without one.
func endpointOf(slice *discoveryv1.EndpointSlice, port string) *url.URL {
	for _, p := range slice.Ports {
		if p.Port == nil || p.Name != nil && *p.Name != port {
			continue
		}
		for _, e := range slice.Endpoints {
			if (e.Conditions.Ready == nil || *e.Conditions.Ready) && len(e.Addresses) > 0 {
				return httpsURL(e.Addresses[0], *p.Port)
			}
		}
	}
	return nil
}

func httpsURL(host string, port int32) *url.URL {
	return &url.URL{Scheme: "https", Host: net.JoinHostPort(host, strconv.Itoa(int(port)))}
}
