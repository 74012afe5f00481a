package strategy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	netutils "k8s.io/utils/net"
	"k8s.io/utils/ptr"
)

// Service decides the IP families and, on an update, what becomes of addresses
// and ports that the server gave out: they live on if the client leaves them
// out, and go if the new type has no use for them.
//
// What is still missing afterwards, allocators give.
func Service(service, old *corev1.Service) {
	if old == nil {
		alignClusterIPs(&service.Spec, nil)
		addressFamilies(&service.Spec, nil)
		return
	}
	keepAllocated(&service.Spec, &old.Spec)
	alignClusterIPs(&service.Spec, &old.Spec)
	addressFamilies(&service.Spec, &old.Spec)
	dropUnused(&service.Spec, &old.Spec)
}

func needsClusterIP(spec *corev1.ServiceSpec) bool {
	return spec.Type != corev1.ServiceTypeExternalName
}

func needsNodePorts(spec *corev1.ServiceSpec) bool {
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		return ptr.Deref(spec.AllocateLoadBalancerNodePorts, true)
	}
	return spec.Type == corev1.ServiceTypeNodePort
}

func needsHealthCheckPort(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer && spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// keepAllocated lets a client post again the manifest that it created with.
func keepAllocated(spec, old *corev1.ServiceSpec) {
	if needsClusterIP(spec) && needsClusterIP(old) {
		if spec.ClusterIP == "" {
			spec.ClusterIP = old.ClusterIP
		}
		if len(spec.ClusterIPs) == 0 && spec.ClusterIP == old.ClusterIP {
			spec.ClusterIPs = slices.Clone(old.ClusterIPs)
		}
	}
	if needsNodePorts(spec) && needsNodePorts(old) {
		keepNodePorts(spec, old)
	}
	if needsHealthCheckPort(spec) && needsHealthCheckPort(old) && spec.HealthCheckNodePort == 0 {
		spec.HealthCheckNodePort = old.HealthCheckNodePort
	}
}

// keepNodePorts goes by the ports' names, and leaves ports alone that the client
// has given to others.
func keepNodePorts(spec, old *corev1.ServiceSpec) {
	taken := map[int32]bool{}
	for _, port := range spec.Ports {
		taken[port.NodePort] = true
	}
	byName := map[string]int32{}
	for _, port := range old.Ports {
		byName[port.Name] = port.NodePort
	}
	for i := range spec.Ports {
		port := &spec.Ports[i]
		if before := byName[port.Name]; port.NodePort == 0 && !taken[before] {
			port.NodePort = before
			taken[before] = true
		}
	}
}

// alignClusterIPs keeps the single address and the list in step, as older clients
// know the single one alone.
func alignClusterIPs(spec, old *corev1.ServiceSpec) {
	if old == nil {
		// The other way round is left for validation to refuse.
		if spec.ClusterIP != "" && len(spec.ClusterIPs) == 0 {
			spec.ClusterIPs = []string{spec.ClusterIP}
		}
		return
	}
	if spec.ClusterIP == old.ClusterIP || !slices.Equal(spec.ClusterIPs, old.ClusterIPs) {
		return
	}
	if spec.ClusterIP == "" {
		spec.ClusterIPs = nil
	} else {
		spec.ClusterIPs = []string{spec.ClusterIP}
	}
}

// addressFamilies settles ipFamilyPolicy and ipFamilies for a cluster that has
// IPv4 alone. A headless Service without selector has its endpoints written by
// hand, which may be of both families: it asks for both, even here.
func addressFamilies(spec, old *corev1.ServiceSpec) {
	if !needsClusterIP(spec) {
		return
	}
	isHeadlessByHand := spec.ClusterIP == corev1.ClusterIPNone && len(spec.Selector) == 0
	if spec.IPFamilyPolicy == nil {
		spec.IPFamilyPolicy = familyPolicy(old, isHeadlessByHand)
	}
	isSingle := *spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
	if old != nil && isSingle && len(spec.IPFamilies) > 1 && slices.Equal(spec.IPFamilies, old.IPFamilies) {
		spec.IPFamilies = spec.IPFamilies[:1]
	}
	isIPv6 := len(spec.ClusterIPs) > 0 && netutils.IsIPv6String(spec.ClusterIPs[0]) // which the allocator refuses
	if len(spec.IPFamilies) == 0 && !isIPv6 {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if isHeadlessByHand && !isSingle && len(spec.IPFamilies) == 1 {
		spec.IPFamilies = append(spec.IPFamilies, otherFamily(spec.IPFamilies[0]))
	}
}

// familyPolicy of a Service that names none: what it had, so that no update moves
// it between one and two families unasked.
func familyPolicy(old *corev1.ServiceSpec, isHeadlessByHand bool) *corev1.IPFamilyPolicy {
	switch {
	case old != nil && old.IPFamilyPolicy != nil:
		return ptr.To(*old.IPFamilyPolicy)
	case isHeadlessByHand:
		return ptr.To(corev1.IPFamilyPolicyRequireDualStack)
	}
	return ptr.To(corev1.IPFamilyPolicySingleStack)
}

func otherFamily(family corev1.IPFamily) corev1.IPFamily {
	if family == corev1.IPv4Protocol {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}
