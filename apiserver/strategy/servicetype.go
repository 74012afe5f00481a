package strategy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// dropUnused clears what a changed type has no use for, if the client left it as
// it was. What the client changed as well is left for validation to refuse.
func dropUnused(spec, old *corev1.ServiceSpec) {
	if needsClusterIP(old) && !needsClusterIP(spec) {
		dropAddresses(spec, old)
	}
	if needsNodePorts(old) && !needsNodePorts(spec) && sameNodePorts(spec, old) {
		for i := range spec.Ports {
			spec.Ports[i].NodePort = 0
		}
	}
	if needsHealthCheckPort(old) && !needsHealthCheckPort(spec) && spec.HealthCheckNodePort == old.HealthCheckNodePort {
		spec.HealthCheckNodePort = 0
	}
	isBalancer, wasBalancer := spec.Type == corev1.ServiceTypeLoadBalancer, old.Type == corev1.ServiceTypeLoadBalancer
	if wasBalancer && !isBalancer {
		if ptr.Equal(spec.AllocateLoadBalancerNodePorts, old.AllocateLoadBalancerNodePorts) {
			spec.AllocateLoadBalancerNodePorts = nil
		}
		if ptr.Equal(spec.LoadBalancerClass, old.LoadBalancerClass) {
			spec.LoadBalancerClass = nil
		}
	}
	if isExternal(old) && !isExternal(spec) && spec.ExternalTrafficPolicy == old.ExternalTrafficPolicy {
		spec.ExternalTrafficPolicy = ""
	}
}

func dropAddresses(spec, old *corev1.ServiceSpec) {
	if spec.ClusterIP == old.ClusterIP && slices.Equal(spec.ClusterIPs, old.ClusterIPs) {
		spec.ClusterIP, spec.ClusterIPs = "", nil
	}
	if slices.Equal(spec.IPFamilies, old.IPFamilies) {
		spec.IPFamilies = nil
	}
	if ptr.Equal(spec.IPFamilyPolicy, old.IPFamilyPolicy) {
		spec.IPFamilyPolicy = nil
	}
}

// sameNodePorts is true if no port is new, so that none was asked for.
func sameNodePorts(spec, old *corev1.ServiceSpec) bool {
	before := map[int32]bool{0: true}
	for _, port := range old.Ports {
		before[port.NodePort] = true
	}
	return !slices.ContainsFunc(spec.Ports, func(port corev1.ServicePort) bool { return !before[port.NodePort] })
}

// isExternal: traffic from outside reaches the Service by an address of a node
// or beyond.
func isExternal(spec *corev1.ServiceSpec) bool {
	switch spec.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		return true
	case corev1.ServiceTypeClusterIP:
		return len(spec.ExternalIPs) > 0
	}
	return false
}
