package defaults

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Service fills a Service. Cluster addresses and node ports come from the
// allocators, but the IP families are decided here, since the cluster has one.
func Service(service *corev1.Service) {
	spec := &service.Spec
	setZero(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	sessionAffinityConfig(spec)
	setZero(&spec.Type, corev1.ServiceTypeClusterIP)
	for i := range spec.Ports {
		servicePort(&spec.Ports[i])
	}
	trafficPolicies(spec)
	if spec.Type == corev1.ServiceTypeLoadBalancer {
		setNil(&spec.AllocateLoadBalancerNodePorts, true)
		for i := range service.Status.LoadBalancer.Ingress {
			if ingress := &service.Status.LoadBalancer.Ingress[i]; ingress.IP != "" {
				setNil(&ingress.IPMode, corev1.LoadBalancerIPModeVIP)
			}
		}
	}
	addressFamilies(spec)
}

func sessionAffinityConfig(spec *corev1.ServiceSpec) {
	switch spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		setNil(&spec.SessionAffinityConfig, corev1.SessionAffinityConfig{})
		setNil(&spec.SessionAffinityConfig.ClientIP, corev1.ClientIPConfig{})
		setNil(&spec.SessionAffinityConfig.ClientIP.TimeoutSeconds, corev1.DefaultClientIPServiceAffinitySeconds)
	}
}

func servicePort(port *corev1.ServicePort) {
	setZero(&port.Protocol, corev1.ProtocolTCP)
	if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
		port.TargetPort = intstr.FromInt32(port.Port)
	}
}

func trafficPolicies(spec *corev1.ServiceSpec) {
	external := spec.Type == corev1.ServiceTypeLoadBalancer || spec.Type == corev1.ServiceTypeNodePort ||
		(spec.Type == corev1.ServiceTypeClusterIP && len(spec.ExternalIPs) > 0)
	if external {
		setZero(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if spec.Type != corev1.ServiceTypeExternalName {
		setNil(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
}

// addressFamilies settles ipFamilyPolicy and ipFamilies for a cluster that has
// IPv4 alone. A headless Service without selector has its endpoints written by
// hand, which may be of both families: it asks for both, even here.
func addressFamilies(spec *corev1.ServiceSpec) {
	if spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	headlessByHand := isHeadless(spec) && len(spec.Selector) == 0
	if headlessByHand && spec.IPFamilyPolicy == nil && len(spec.IPFamilies) != 1 {
		setNil(&spec.IPFamilyPolicy, corev1.IPFamilyPolicyRequireDualStack)
	}
	setNil(&spec.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack)
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if headlessByHand && *spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack && len(spec.IPFamilies) == 1 {
		spec.IPFamilies = append(spec.IPFamilies, otherFamily(spec.IPFamilies[0]))
	}
}

func isHeadless(spec *corev1.ServiceSpec) bool {
	return spec.ClusterIP == corev1.ClusterIPNone ||
		(len(spec.ClusterIPs) > 0 && spec.ClusterIPs[0] == corev1.ClusterIPNone)
}

func otherFamily(family corev1.IPFamily) corev1.IPFamily {
	if family == corev1.IPv4Protocol {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}
