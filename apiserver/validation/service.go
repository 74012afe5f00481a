package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

const (
	onlyLoadBalancer  = "may only be used when `type` is 'LoadBalancer'"
	notForExternal    = "may not be set for ExternalName services"
	maxClientIPSticks = 86400 // seconds
)

// Service holds the rules of core/v1 Services. Whether an address or a port is
// free is for the allocators to say.
func Service(svc, old *corev1.Service) field.ErrorList {
	if old == nil {
		return serviceObject(svc)
	}
	return concat(metaUpdate(&svc.ObjectMeta, &old.ObjectMeta),
		clusterIPUpdate(svc, old), ipFamilyUpdate(svc, old), loadBalancerClass(svc, old),
		refuse(needsHealthCheck(old) && needsHealthCheck(svc) && svc.Spec.HealthCheckNodePort != old.Spec.HealthCheckNodePort,
			field.Forbidden(field.NewPath("spec", "healthCheckNodePort"), immutable)),
		serviceObject(svc))
}

// ServiceStatus holds the rules of a write to services/status.
func ServiceStatus(svc, old *corev1.Service) field.ErrorList {
	p := field.NewPath("status", "loadBalancer", "ingress")
	errs := metaUpdate(&svc.ObjectMeta, &old.ObjectMeta)
	ingress := svc.Status.LoadBalancer.Ingress
	if svc.Spec.Type != corev1.ServiceTypeLoadBalancer && len(ingress) > 0 {
		return append(errs, field.Forbidden(p, "may only be used when `spec.type` is 'LoadBalancer'"))
	}
	return append(errs, each(ingress, p, func(in *corev1.LoadBalancerIngress, p *field.Path) field.ErrorList {
		var errs field.ErrorList
		if in.IP != "" {
			errs = append(errs, ipAddress(in.IP, p.Child("ip"))...)
		}
		mode := p.Child("ipMode")
		switch {
		case in.IPMode == nil:
			errs = append(errs, refuse(in.IP != "", field.Required(mode, "must be specified when `ip` is set"))...)
		case in.IP == "":
			errs = append(errs, field.Forbidden(mode, "may not be specified when `ip` is not set"))
		default:
			errs = append(errs, supported(*in.IPMode, mode, corev1.LoadBalancerIPModeProxy, corev1.LoadBalancerIPModeVIP)...)
		}
		return append(errs, loadBalancerHostname(in.Hostname, p.Child("hostname"))...)
	})...)
}

func loadBalancerHostname(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	return append(dnsSubdomain(name, p),
		refuse(netutils.ParseIPSloppy(name) != nil, field.Invalid(p, name, "must be a DNS name, not an IP address"))...)
}

func serviceObject(svc *corev1.Service) field.ErrorList {
	s, p := &svc.Spec, field.NewPath("spec")
	errs := concat(metaCreate(&svc.ObjectMeta, namespaced, apivalidation.NameIsDNSLabel), topologyAnnotations(svc))
	if len(s.Ports) == 0 && !headless(svc) && s.Type != corev1.ServiceTypeExternalName {
		errs = append(errs, field.Required(p.Child("ports"), ""))
	}
	errs = append(errs, serviceType(svc, p)...)
	names := sets.New[string]()
	errs = append(errs, each(s.Ports, p.Child("ports"), func(port *corev1.ServicePort, p *field.Path) field.ErrorList {
		return servicePort(port, len(s.Ports) > 1, names, p)
	})...)
	return concat(errs,
		metav1validation.ValidateLabels(s.Selector, p.Child("selector")),
		sessionAffinity(s, p),
		clusterIPs(svc),
		each(s.ExternalIPs, p.Child("externalIPs"), externalIP),
		oneOf(s.Type, p.Child("type"), corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort),
		distinctPorts(s, p.Child("ports")),
		sourceRanges(svc),
		refuse(s.AllocateLoadBalancerNodePorts != nil && s.Type != corev1.ServiceTypeLoadBalancer,
			field.Forbidden(p.Child("allocateLoadBalancerNodePorts"), onlyLoadBalancer)),
		refuse(s.Type == corev1.ServiceTypeLoadBalancer && s.AllocateLoadBalancerNodePorts == nil,
			field.Required(field.NewPath("allocateLoadBalancerNodePorts"), "")),
		loadBalancerClass(svc, nil),
		trafficPolicies(svc, p))
}

func topologyAnnotations(svc *corev1.Service) field.ErrorList {
	hints, old := svc.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	mode, set := svc.Annotations[corev1.AnnotationTopologyMode]
	return refuse(old && set && hints != mode, field.Invalid(field.NewPath("metadata", "annotations").Key(corev1.AnnotationTopologyMode), mode,
		fmt.Sprintf("must match annotations[%s] when both are specified", corev1.DeprecatedAnnotationTopologyAwareHints)))
}

func headless(svc *corev1.Service) bool {
	return len(svc.Spec.ClusterIPs) == 1 && svc.Spec.ClusterIPs[0] == corev1.ClusterIPNone
}

// serviceType checks what a type rules out.
func serviceType(svc *corev1.Service, p *field.Path) field.ErrorList {
	s := &svc.Spec
	switch s.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		return refuse(headless(svc), field.Invalid(p.Child("clusterIPs").Index(0), corev1.ClusterIPNone,
			fmt.Sprintf("may not be set to 'None' for %s services", s.Type)))
	case corev1.ServiceTypeExternalName:
		errs := concat(
			refuse(len(s.ClusterIPs) > 0, field.Forbidden(p.Child("clusterIPs"), notForExternal)),
			refuse(len(s.IPFamilies) > 0, field.Forbidden(p.Child("ipFamilies"), notForExternal)),
			refuse(s.IPFamilyPolicy != nil, field.Forbidden(p.Child("ipFamilyPolicy"), notForExternal)))
		return append(errs, requiredName(strings.TrimSuffix(s.ExternalName, "."), p.Child("externalName"), apivalidation.NameIsDNSSubdomain)...)
	}
	return nil
}

func servicePort(port *corev1.ServicePort, needsName bool, names sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if port.Name != "" {
		errs = concat(dnsLabel(port.Name, p.Child("name")), refuse(names.Has(port.Name), field.Duplicate(p.Child("name"), port.Name)))
		names.Insert(port.Name)
	} else if needsName {
		errs = append(errs, field.Required(p.Child("name"), ""))
	}
	errs = append(errs, concat(portNumber(port.Port, p.Child("port")), oneOf(port.Protocol, p.Child("protocol"), protocols...),
		portNumberOrName(port.TargetPort, p.Child("targetPort")))...)
	if port.AppProtocol != nil {
		errs = append(errs, qualifiedName(*port.AppProtocol, p.Child("appProtocol"))...)
	}
	return errs
}

func sessionAffinity(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	errs := oneOf(s.SessionAffinity, p.Child("sessionAffinity"), corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)
	c, at := s.SessionAffinityConfig, p.Child("sessionAffinityConfig")
	switch s.SessionAffinity {
	case corev1.ServiceAffinityNone:
		return append(errs, refuse(c != nil, field.Forbidden(at, "must not be set when session affinity is None"))...)
	case corev1.ServiceAffinityClientIP:
		const missing = "when session affinity type is ClientIP"
		timeout := at.Child("clientIP", "timeoutSeconds")
		switch {
		case c == nil:
			return append(errs, field.Required(at, missing))
		case c.ClientIP == nil:
			return append(errs, field.Required(at.Child("clientIP"), missing))
		case c.ClientIP.TimeoutSeconds == nil:
			return append(errs, field.Required(timeout, missing))
		}
		seconds := *c.ClientIP.TimeoutSeconds
		return append(errs, refuse(seconds <= 0 || seconds > maxClientIPSticks,
			field.Invalid(timeout, seconds, fmt.Sprintf("must be greater than 0 and less than %d", maxClientIPSticks)))...)
	}
	return errs
}

func externalIP(ip *string, p *field.Path) field.ErrorList {
	if errs := ipAddress(*ip, p); len(errs) > 0 {
		return errs
	}
	return ordinaryIP(*ip, p)
}

// ordinaryIP refuses addresses that mean something else on every machine.
func ordinaryIP(value string, p *field.Path) field.ErrorList {
	ip := netutils.ParseIPSloppy(value)
	if ip == nil {
		return field.ErrorList{field.Invalid(p, value, "must be a valid IP address")}
	}
	return concat(
		refuse(ip.IsUnspecified(), field.Invalid(p, value, fmt.Sprintf("may not be unspecified (%v)", value))),
		refuse(ip.IsLoopback(), field.Invalid(p, value, "may not be in the loopback range (127.0.0.0/8, ::1/128)")),
		refuse(ip.IsLinkLocalUnicast(), field.Invalid(p, value, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")),
		refuse(ip.IsLinkLocalMulticast(), field.Invalid(p, value, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")))
}

// distinctPorts checks node ports and ports, which may repeat for other protocols.
func distinctPorts(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	var inner, nodes, ports field.ErrorList
	seenNodes, seen := sets.New[corev1.ServicePort](), sets.New[corev1.ServicePort]()
	for i, port := range s.Ports {
		at := p.Index(i)
		inner = append(inner, refuse(s.Type == corev1.ServiceTypeClusterIP && port.NodePort != 0,
			field.Forbidden(at.Child("nodePort"), "may not be used when `type` is 'ClusterIP'"))...)
		node := corev1.ServicePort{Protocol: port.Protocol, NodePort: port.NodePort}
		nodes = append(nodes, refuse(port.NodePort != 0 && seenNodes.Has(node), field.Duplicate(at.Child("nodePort"), port.NodePort))...)
		seenNodes.Insert(node)
		key := corev1.ServicePort{Protocol: port.Protocol, Port: port.Port}
		ports = append(ports, refuse(seen.Has(key), field.Duplicate(at, byFieldName(key)))...)
		seen.Insert(key)
	}
	return concat(inner, nodes, ports)
}

func sourceRanges(svc *corev1.Service) field.ErrorList {
	balanced := svc.Spec.Type == corev1.ServiceTypeLoadBalancer
	if ranges := svc.Spec.LoadBalancerSourceRanges; len(ranges) > 0 {
		p := field.NewPath("spec", "LoadBalancerSourceRanges") // sic
		return append(refuse(!balanced, field.Forbidden(p, onlyLoadBalancer)), each(ranges, p, func(r *string, p *field.Path) field.ErrorList {
			return cidr(strings.TrimSpace(*r), p)
		})...)
	}
	value, set := svc.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]
	if !set {
		return nil
	}
	p := field.NewPath("metadata", "annotations").Key(corev1.AnnotationLoadBalancerSourceRangesKey)
	errs := refuse(!balanced, field.Forbidden(p, onlyLoadBalancer))
	if value = strings.TrimSpace(value); value == "" {
		return errs
	}
	for part := range strings.SplitSeq(value, ",") {
		errs = append(errs, cidr(strings.TrimSpace(part), p)...)
	}
	return errs
}

func loadBalancerClass(svc, old *corev1.Service) field.ErrorList {
	p, class := field.NewPath("spec", "loadBalancerClass"), svc.Spec.LoadBalancerClass
	if svc.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return refuse(class != nil, field.Forbidden(p, onlyLoadBalancer))
	}
	var errs field.ErrorList
	if old != nil && old.Spec.Type == corev1.ServiceTypeLoadBalancer {
		errs = refuse(!sameValue(class, old.Spec.LoadBalancerClass), field.Invalid(p, class, "may not change once set"))
	}
	if class != nil {
		errs = append(errs, qualifiedName(*class, p)...)
	}
	return errs
}

// external says whether a Service can be reached from outside of the cluster.
func external(svc *corev1.Service) bool {
	switch svc.Spec.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		return true
	}
	return svc.Spec.Type == corev1.ServiceTypeClusterIP && len(svc.Spec.ExternalIPs) > 0
}

func needsHealthCheck(svc *corev1.Service) bool {
	return svc.Spec.Type == corev1.ServiceTypeLoadBalancer && svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

func trafficPolicies(svc *corev1.Service, p *field.Path) field.ErrorList {
	s := &svc.Spec
	var errs field.ErrorList
	if at := p.Child("externalTrafficPolicy"); external(svc) {
		errs = oneOf(s.ExternalTrafficPolicy, at, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)
	} else {
		errs = refuse(s.ExternalTrafficPolicy != "", field.Invalid(at, s.ExternalTrafficPolicy, "may only be set for externally-accessible services"))
	}
	switch at := p.Child("healthCheckNodePort"); {
	case !needsHealthCheck(svc):
		errs = append(errs, refuse(s.HealthCheckNodePort != 0, field.Invalid(at, s.HealthCheckNodePort,
			"may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))...)
	case s.HealthCheckNodePort == 0:
		errs = append(errs, field.Required(at, ""))
	default:
		errs = append(errs, portNumber(s.HealthCheckNodePort, at)...)
	}
	at := p.Child("internalTrafficPolicy")
	if s.InternalTrafficPolicy != nil {
		errs = append(errs, supported(*s.InternalTrafficPolicy, at, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)...)
	} else if s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer || s.Type == corev1.ServiceTypeClusterIP {
		errs = append(errs, field.Required(at, ""))
	}
	return append(errs, when(s.TrafficDistribution, p.Child("trafficDistribution"), func(d *string, p *field.Path) field.ErrorList {
		return supported(*d, p, corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameNode, corev1.ServiceTrafficDistributionPreferSameZone)
	})...)
}
