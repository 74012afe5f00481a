package defaults

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Service fills a Service. Its IP families depend on what they were, and are
// decided in strategy.Service; addresses and node ports come from the allocators.
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
