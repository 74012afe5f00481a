package endpoints

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func pod(name, ip string, ready corev1.ConditionStatus, named int32) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c"}}},
		Status: corev1.PodStatus{
			PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}, Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		},
	}
	if named != 0 {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: named, Protocol: corev1.ProtocolTCP}}
	}
	return p
}

func service(change func(*corev1.ServiceSpec)) *corev1.Service {
	s := &corev1.Service{Spec: corev1.ServiceSpec{
		ClusterIP: "10.0.0.1",
		Ports:     []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(80), Protocol: corev1.ProtocolTCP}},
	}}
	change(&s.Spec)
	return s
}

// render writes subsets as "ready|not ready:ports", sorted.
func render(subsets []corev1.EndpointSubset) []string {
	var lines []string
	for _, subset := range subsets {
		line := ""
		for _, address := range subset.Addresses {
			line += address.TargetRef.Name
		}
		line += "|"
		for _, address := range subset.NotReadyAddresses {
			line += address.TargetRef.Name
		}
		numbers := []int32{}
		for _, port := range subset.Ports {
			numbers = append(numbers, port.Port)
		}
		slices.Sort(numbers)
		lines = append(lines, fmt.Sprintf("%s:%v", line, numbers))
	}
	slices.Sort(lines)
	return lines
}

func TestSubsetsOf(t *testing.T) {
	const yes, no = corev1.ConditionTrue, corev1.ConditionFalse
	leaving := pod("t", "10.1.0.9", yes, 0)
	leaving.DeletionTimestamp = &metav1.Time{}
	finished := pod("f", "10.1.0.8", no, 0)
	finished.Status.Phase = corev1.PodSucceeded
	for _, test := range []struct {
		name    string
		service *corev1.Service
		pods    []*corev1.Pod
		want    []string
	}{
		{"ready and not", service(func(*corev1.ServiceSpec) {}),
			[]*corev1.Pod{pod("a", "10.1.0.1", yes, 0), pod("b", "10.1.0.2", no, 0)}, []string{"a|b:[80]"}},
		{"not ready but published", service(func(s *corev1.ServiceSpec) { s.PublishNotReadyAddresses = true }),
			[]*corev1.Pod{pod("a", "10.1.0.1", yes, 0), pod("b", "10.1.0.2", no, 0)}, []string{"ab|:[80]"}},
		{"terminating, finished, without address, of the other family", service(func(*corev1.ServiceSpec) {}),
			[]*corev1.Pod{leaving, finished, pod("n", "", yes, 0), pod("v6", "fd00::1", yes, 0)}, nil},
		{"IPv6", service(func(s *corev1.ServiceSpec) { s.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol} }),
			[]*corev1.Pod{pod("a", "10.1.0.1", yes, 0), pod("v6", "fd00::1", yes, 0)}, []string{"v6|:[80]"}},
		{"a named port that differs, or is missing", service(func(s *corev1.ServiceSpec) {
			s.Ports[0].Name, s.Ports[0].TargetPort = "w", intstr.FromString("http")
			s.Ports = append(s.Ports, corev1.ServicePort{Name: "x", Port: 81, TargetPort: intstr.FromInt32(81), Protocol: corev1.ProtocolTCP})
		}), []*corev1.Pod{pod("a", "10.1.0.1", yes, 8080), pod("b", "10.1.0.2", yes, 9090), pod("d", "10.1.0.3", yes, 0)},
			[]string{"abd|:[81]", "a|:[8080]", "b|:[9090]"}},
		{"headless without ports", service(func(s *corev1.ServiceSpec) { s.ClusterIP, s.Ports = corev1.ClusterIPNone, nil }),
			[]*corev1.Pod{pod("a", "10.1.0.1", yes, 0)}, []string{"a|:[]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := render(subsetsOf(test.service, test.pods)); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestTruncate(t *testing.T) {
	addresses := func(n int) []corev1.EndpointAddress { return make([]corev1.EndpointAddress, n) }
	subsets, truncated := truncate([]corev1.EndpointSubset{
		{Addresses: addresses(600), NotReadyAddresses: addresses(600)},
		{Addresses: addresses(300)},
	})
	if !truncated || len(subsets[0].Addresses) != 600 || len(subsets[0].NotReadyAddresses) != 100 || len(subsets[1].Addresses) != 300 {
		t.Errorf("truncated %t: %d and %d, then %d", truncated, len(subsets[0].Addresses), len(subsets[0].NotReadyAddresses), len(subsets[1].Addresses))
	}
	if _, truncated := truncate([]corev1.EndpointSubset{{Addresses: addresses(capacity)}}); truncated {
		t.Error("truncated at capacity")
	}
}
