package endpointslice

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func handMade(ips ...string) *corev1.Endpoints {
	endpoints := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "db", UID: "u", Labels: map[string]string{"team": "a"},
		Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "x", "note": "y"},
	}}
	subset := corev1.EndpointSubset{Ports: []corev1.EndpointPort{{Name: "sql", Port: 5432, Protocol: corev1.ProtocolTCP}}}
	for _, ip := range ips {
		subset.Addresses = append(subset.Addresses, corev1.EndpointAddress{IP: ip})
	}
	endpoints.Subsets = []corev1.EndpointSubset{subset}
	return endpoints
}

func TestMirrorsOf(t *testing.T) {
	endpoints := handMade("10.0.0.1", "fd00::1")
	endpoints.Subsets[0].NotReadyAddresses = []corev1.EndpointAddress{{IP: "10.0.0.2", Hostname: "h"}}
	families := map[discoveryv1.AddressType]*discoveryv1.EndpointSlice{}
	for _, mirror := range mirrorsOf(endpoints) {
		families[mirror.AddressType] = mirror
	}
	v4, v6 := families[discoveryv1.AddressTypeIPv4], families[discoveryv1.AddressTypeIPv6]
	if len(families) != 2 || len(v4.Endpoints) != 2 || len(v6.Endpoints) != 1 {
		t.Fatalf("mirrors %v", families)
	}
	if !*v4.Endpoints[0].Conditions.Ready || *v4.Endpoints[1].Conditions.Ready || v4.Endpoints[0].Conditions.Serving != nil || *v4.Endpoints[1].Hostname != "h" {
		t.Errorf("endpoints %v", v4.Endpoints)
	}
	if v4.Labels["team"] != "a" || v4.Labels[discoveryv1.LabelServiceName] != "db" || v4.Labels[discoveryv1.LabelManagedBy] != mirroredBy {
		t.Errorf("labels %v", v4.Labels)
	}
	if len(v4.Annotations) != 1 || v4.Annotations["note"] != "y" {
		t.Errorf("annotations %v", v4.Annotations)
	}
	if owner := metav1.GetControllerOf(v4); owner == nil || owner.Kind != "Endpoints" || owner.UID != "u" {
		t.Errorf("owner %v", owner)
	}
}

func TestPlanMirrors(t *testing.T) {
	of := func(endpoints *corev1.Endpoints) []*discoveryv1.EndpointSlice {
		return planMirrors(mirrorsOf(endpoints), nil).create
	}
	one := of(handMade("10.0.0.1"))
	for _, test := range []struct {
		name                   string
		wanted                 *corev1.Endpoints
		existing               []*discoveryv1.EndpointSlice
		create, update, delete int
	}{
		{"none yet", handMade("10.0.0.1"), nil, 1, 0, 0},
		{"as it should be", handMade("10.0.0.1"), one, 0, 0, 0},
		{"another address", handMade("10.0.0.2"), one, 0, 1, 0},
		{"another family", handMade("fd00::1"), one, 1, 0, 1},
		{"one too many", handMade("10.0.0.1"), append(one, one[0].DeepCopy()), 0, 0, 1},
		{"no addresses", handMade(), one, 0, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planMirrors(mirrorsOf(test.wanted), test.existing)
			if len(p.create) != test.create || len(p.update) != test.update || len(p.delete) != test.delete {
				t.Errorf("create %d, update %d, delete %d", len(p.create), len(p.update), len(p.delete))
			}
		})
	}
}
