package endpoints

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/dump"
	"k8s.io/endpointslice"
	endpointsliceutil "k8s.io/endpointslice/util"
)

// capacity is the most addresses that one object lists.
const capacity = 1000

// noPorts stands for the ports of a headless Service that names none.
var noPorts = corev1.EndpointPort{Port: -1}

// An addressKey tells addresses apart: pods may share an IP in passing.
type addressKey struct {
	ip  string
	uid types.UID
}

// A member is an address behind a port.
type member struct {
	address corev1.EndpointAddress
	ready   bool
}

// subsetsOf groups the pods behind a Service: pods that answer on the same
// ports make a subset.
func subsetsOf(service *corev1.Service, pods []*corev1.Pod) []corev1.EndpointSubset {
	byPort := map[corev1.EndpointPort]map[addressKey]member{}
	for _, pod := range pods {
		tolerant := service.Spec.PublishNotReadyAddresses
		if !endpointsliceutil.ShouldPodBeInEndpoints(pod, tolerant) {
			continue
		}
		address, found := addressOf(service, pod)
		if !found {
			continue
		}
		m := member{address: address, ready: tolerant || endpointsliceutil.IsPodReady(pod)}
		for _, port := range portsOf(service, pod) {
			if byPort[port] == nil {
				byPort[port] = map[addressKey]member{}
			}
			byPort[port][addressKey{address.IP, pod.UID}] = m
		}
	}
	return pack(byPort)
}

// addressOf is the pod's first address in the Service's family.
func addressOf(service *corev1.Service, pod *corev1.Pod) (corev1.EndpointAddress, bool) {
	for _, podIP := range pod.Status.PodIPs {
		ip, err := netip.ParseAddr(podIP.IP)
		if err != nil || ip.Is6() != wantsIPv6(service) {
			continue
		}
		address := corev1.EndpointAddress{
			IP: podIP.IP, NodeName: &pod.Spec.NodeName,
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		}
		if endpointsliceutil.ShouldSetHostname(pod, service) {
			address.Hostname = pod.Spec.Hostname
		}
		return address, true
	}
	return corev1.EndpointAddress{}, false
}

func wantsIPv6(service *corev1.Service) bool {
	if len(service.Spec.IPFamilies) > 0 {
		return service.Spec.IPFamilies[0] == corev1.IPv6Protocol
	}
	ip, err := netip.ParseAddr(service.Spec.ClusterIP)
	return err == nil && ip.Is6()
}

// portsOf leaves out the named target ports that no container of the pod has.
func portsOf(service *corev1.Service, pod *corev1.Pod) []corev1.EndpointPort {
	if len(service.Spec.Ports) == 0 && service.Spec.ClusterIP == corev1.ClusterIPNone {
		return []corev1.EndpointPort{noPorts}
	}
	var ports []corev1.EndpointPort
	for i := range service.Spec.Ports {
		port := &service.Spec.Ports[i]
		number, err := endpointslice.FindPort(pod, port)
		if err != nil {
			continue
		}
		ports = append(ports, corev1.EndpointPort{
			Name: port.Name, Port: int32(number), Protocol: port.Protocol, AppProtocol: port.AppProtocol,
		})
	}
	return ports
}

// pack joins the ports that the same addresses are behind.
func pack(byPort map[corev1.EndpointPort]map[addressKey]member) []corev1.EndpointSubset {
	bySet := map[string]*corev1.EndpointSubset{}
	for port, members := range byPort {
		sorted := make([]member, 0, len(members))
		for _, m := range members {
			sorted = append(sorted, m)
		}
		slices.SortFunc(sorted, func(a, b member) int {
			return cmp.Or(cmp.Compare(a.address.IP, b.address.IP), cmp.Compare(a.address.TargetRef.UID, b.address.TargetRef.UID))
		})
		set := ""
		for _, m := range sorted {
			set += fmt.Sprintf("%s %s %t;", m.address.IP, m.address.TargetRef.UID, m.ready)
		}
		subset := bySet[set]
		if subset == nil {
			subset = newSubset(sorted)
			bySet[set] = subset
		}
		if port != noPorts {
			subset.Ports = append(subset.Ports, port)
		}
	}
	subsets := make([]corev1.EndpointSubset, 0, len(bySet))
	for _, subset := range bySet {
		slices.SortFunc(subset.Ports, byHash)
		subsets = append(subsets, *subset)
	}
	slices.SortFunc(subsets, byHash)
	return subsets
}

func newSubset(members []member) *corev1.EndpointSubset {
	subset := &corev1.EndpointSubset{}
	for _, m := range members {
		if m.ready {
			subset.Addresses = append(subset.Addresses, m.address)
		} else {
			subset.NotReadyAddresses = append(subset.NotReadyAddresses, m.address)
		}
	}
	return subset
}

// byHash is the order in which Kubernetes lists ports and subsets.
func byHash[T any](a, b T) int {
	hash := func(v T) []byte {
		sum := md5.Sum([]byte(dump.ForHash(v)))
		return sum[:]
	}
	return bytes.Compare(hash(a), hash(b))
}

// truncate drops addresses over capacity, those that are not ready first.
func truncate(subsets []corev1.EndpointSubset) ([]corev1.EndpointSubset, bool) {
	ready, notReady := 0, 0
	for _, subset := range subsets {
		ready += len(subset.Addresses)
		notReady += len(subset.NotReadyAddresses)
	}
	if ready+notReady <= capacity {
		return subsets, false
	}
	room := capacity
	take := func(addresses []corev1.EndpointAddress) []corev1.EndpointAddress {
		taken := addresses[:min(room, len(addresses))]
		room -= len(taken)
		return taken
	}
	for i := range subsets {
		subsets[i].Addresses = take(subsets[i].Addresses)
	}
	for i := range subsets {
		subsets[i].NotReadyAddresses = take(subsets[i].NotReadyAddresses)
	}
	return slices.DeleteFunc(subsets, func(s corev1.EndpointSubset) bool {
		return len(s.Addresses)+len(s.NotReadyAddresses) == 0
	}), true
}
