package endpointslice

import (
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	endpointsliceutil "k8s.io/endpointslice/util"
)

// maxMirrored is how many addresses of a subset are mirrored.
const maxMirrored = 1000

// A mirrorKey names the one mirror of a subset's ports and address family.
type mirrorKey struct {
	family discoveryv1.AddressType
	ports  endpointsliceutil.PortMapKey
}

func keyOf(slice *discoveryv1.EndpointSlice) mirrorKey {
	return mirrorKey{slice.AddressType, endpointsliceutil.NewPortMapKey(slice.Ports)}
}

// mirrorsOf translates Endpoints into the slices that say the same.
func mirrorsOf(endpoints *corev1.Endpoints) map[mirrorKey]*discoveryv1.EndpointSlice {
	mirrors := map[mirrorKey]*discoveryv1.EndpointSlice{}
	for _, subset := range endpoints.Subsets {
		ports := portsOf(subset)
		left := maxMirrored
		add := func(address corev1.EndpointAddress, ready bool) {
			ip, err := netip.ParseAddr(address.IP)
			if err != nil || left == 0 {
				return
			}
			left--
			family := discoveryv1.AddressTypeIPv4
			if ip.Is6() {
				family = discoveryv1.AddressTypeIPv6
			}
			key := mirrorKey{family, endpointsliceutil.NewPortMapKey(ports)}
			if mirrors[key] == nil {
				mirrors[key] = newMirror(endpoints, family, ports)
			}
			mirrors[key].Endpoints = append(mirrors[key].Endpoints, endpointOf(address, ready))
		}
		for _, address := range subset.Addresses {
			add(address, true)
		}
		for _, address := range subset.NotReadyAddresses {
			add(address, false)
		}
	}
	return mirrors
}

func portsOf(subset corev1.EndpointSubset) []discoveryv1.EndpointPort {
	var ports []discoveryv1.EndpointPort
	for i := range subset.Ports {
		port := subset.Ports[i]
		ports = append(ports, discoveryv1.EndpointPort{
			Name: &port.Name, Port: &port.Port, Protocol: &port.Protocol, AppProtocol: port.AppProtocol,
		})
	}
	return ports
}

// endpointOf sets no other condition than ready: Endpoints tell no more.
func endpointOf(address corev1.EndpointAddress, ready bool) discoveryv1.Endpoint {
	endpoint := discoveryv1.Endpoint{
		Addresses:  []string{address.IP},
		Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		TargetRef:  address.TargetRef, NodeName: address.NodeName,
	}
	if address.Hostname != "" {
		endpoint.Hostname = &address.Hostname
	}
	return endpoint
}

// newMirror inherits labels and annotations, except what is about the Endpoints object itself.
func newMirror(endpoints *corev1.Endpoints, family discoveryv1.AddressType, ports []discoveryv1.EndpointPort) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: endpoints.Name + "-", Namespace: endpoints.Namespace,
			Labels: map[string]string{}, Annotations: maps.Clone(endpoints.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(endpoints, corev1.SchemeGroupVersion.WithKind("Endpoints"))},
		},
		AddressType: family, Ports: ports,
	}
	maps.Copy(slice.Labels, endpoints.Labels)
	slice.Labels[discoveryv1.LabelServiceName] = endpoints.Name
	slice.Labels[discoveryv1.LabelManagedBy] = mirroredBy
	delete(slice.Annotations, corev1.LastAppliedConfigAnnotation)
	return slice
}

// plan is what turns the existing mirrors into the wanted ones.
type plan struct{ create, update, delete []*discoveryv1.EndpointSlice }

// planMirrors consumes wanted.
func planMirrors(wanted map[mirrorKey]*discoveryv1.EndpointSlice, existing []*discoveryv1.EndpointSlice) plan {
	var p plan
	for _, old := range existing {
		key := keyOf(old)
		mirror := wanted[key]
		if mirror == nil {
			p.delete = append(p.delete, old) // also a second one of the same ports
			continue
		}
		delete(wanted, key)
		if !sameMirror(old, mirror) {
			updated := old.DeepCopy()
			updated.Endpoints, updated.Labels, updated.Annotations = mirror.Endpoints, mirror.Labels, mirror.Annotations
			updated.OwnerReferences = mirror.OwnerReferences
			p.update = append(p.update, updated)
		}
	}
	for _, mirror := range wanted {
		p.create = append(p.create, mirror)
	}
	return p
}

func sameMirror(a, b *discoveryv1.EndpointSlice) bool {
	return apiequality.Semantic.DeepEqual(a.Endpoints, b.Endpoints) && maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) &&
		slices.EqualFunc(a.OwnerReferences, b.OwnerReferences, func(x, y metav1.OwnerReference) bool { return x.UID == y.UID })
}
