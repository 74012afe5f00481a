package defaults

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// NetworkPolicy infers what a policy is about: ingress always, egress if it has
// rules for it.
func NetworkPolicy(policy *networkingv1.NetworkPolicy) {
	if len(policy.Spec.PolicyTypes) == 0 {
		policy.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(policy.Spec.Egress) > 0 {
			policy.Spec.PolicyTypes = append(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	for i := range policy.Spec.Ingress {
		policyPorts(policy.Spec.Ingress[i].Ports)
	}
	for i := range policy.Spec.Egress {
		policyPorts(policy.Spec.Egress[i].Ports)
	}
}

func policyPorts(ports []networkingv1.NetworkPolicyPort) {
	for i := range ports {
		setNil(&ports[i].Protocol, corev1.ProtocolTCP)
	}
}

// IngressClass fills the scope of parameters.
func IngressClass(class *networkingv1.IngressClass) {
	if class.Spec.Parameters != nil {
		setNil(&class.Spec.Parameters.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
	}
}

// EndpointSlice fills names and protocols of ports.
func EndpointSlice(slice *discoveryv1.EndpointSlice) {
	for i := range slice.Ports {
		setNil(&slice.Ports[i].Name, "")
		setNil(&slice.Ports[i].Protocol, corev1.ProtocolTCP)
	}
}
