package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

const maxIngressController = 250

// NetworkPolicy holds the rules of networking.k8s.io/v1 NetworkPolicies.
func NetworkPolicy(n, old *networkingv1.NetworkPolicy) field.ErrorList {
	s, p := &n.Spec, field.NewPath("spec")
	errs := concat(metaEither(&n.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain),
		labelSelector(&s.PodSelector, p.Child("podSelector")),
		each(s.Ingress, p.Child("ingress"), func(r *networkingv1.NetworkPolicyIngressRule, p *field.Path) field.ErrorList {
			return concat(each(r.Ports, p.Child("ports"), policyPort), each(r.From, p.Child("from"), policyPeer))
		}),
		each(s.Egress, p.Child("egress"), func(r *networkingv1.NetworkPolicyEgressRule, p *field.Path) field.ErrorList {
			return concat(each(r.Ports, p.Child("ports"), policyPort), each(r.To, p.Child("to"), policyPeer))
		}))
	types := p.Child("policyTypes")
	if len(s.PolicyTypes) > 2 {
		return append(errs, field.Invalid(types, s.PolicyTypes, "may not specify more than two policyTypes"))
	}
	return append(errs, each(s.PolicyTypes, types, func(t *networkingv1.PolicyType, p *field.Path) field.ErrorList {
		return supported(*t, p, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)
	})...)
}

func policyPort(port *networkingv1.NetworkPolicyPort, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if port.Protocol != nil {
		errs = supported(*port.Protocol, p.Child("protocol"), corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	}
	at, end := p.Child("endPort"), port.EndPort
	switch {
	case port.Port == nil:
		return append(errs, refuse(end != nil, field.Invalid(at, end, "may not be specified when `port` is not specified"))...)
	case port.Port.Type == intstr.String:
		errs = append(errs, refuse(end != nil, field.Invalid(at, end, "may not be specified when `port` is non-numeric"))...)
		return append(errs, portNumberOrName(*port.Port, p.Child("port"))...)
	}
	errs = append(errs, portNumber(port.Port.IntVal, p.Child("port"))...)
	if end == nil {
		return errs
	}
	return concat(errs, refuse(*end < port.Port.IntVal, field.Invalid(at, *end, "must be greater than or equal to `port`")), portNumber(*end, at))
}

func policyPeer(peer *networkingv1.NetworkPolicyPeer, p *field.Path) field.ErrorList {
	selects := peer.PodSelector != nil || peer.NamespaceSelector != nil
	return concat(
		labelSelector(peer.PodSelector, p.Child("podSelector")),
		labelSelector(peer.NamespaceSelector, p.Child("namespaceSelector")),
		when(peer.IPBlock, p.Child("ipBlock"), ipBlock),
		refuse(!selects && peer.IPBlock == nil, field.Required(p, "must specify a peer")),
		refuse(selects && peer.IPBlock != nil, field.Forbidden(p, "may not specify both ipBlock and another peer")))
}

func ipBlock(b *networkingv1.IPBlock, p *field.Path) field.ErrorList {
	if b.CIDR == "" {
		return field.ErrorList{field.Required(p.Child("cidr"), "")}
	}
	errs := cidr(b.CIDR, p.Child("cidr"))
	_, whole, err := netutils.ParseCIDRSloppy(b.CIDR)
	if err != nil {
		return errs
	}
	return append(errs, each(b.Except, p.Child("except"), func(value *string, p *field.Path) field.ErrorList {
		errs := cidr(*value, p)
		_, part, err := netutils.ParseCIDRSloppy(*value)
		if err != nil {
			return errs
		}
		size, _ := whole.Mask.Size()
		partSize, _ := part.Mask.Size()
		return append(errs, refuse(!whole.Contains(part.IP) || size >= partSize, field.Invalid(p, *value, "must be a strict subset of `cidr`"))...)
	})...)
}

// Ingress holds the rules of networking.k8s.io/v1 Ingresses.
func Ingress(in, old *networkingv1.Ingress) field.ErrorList {
	s, p := &in.Spec, field.NewPath("spec")
	errs := metaBoth(&in.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain)
	if len(s.Rules) == 0 && s.DefaultBackend == nil {
		errs = append(errs, field.Invalid(p, nil, "either `defaultBackend` or `rules` must be specified"))
	}
	errs = append(errs, concat(
		when(s.DefaultBackend, p.Child("defaultBackend"), ingressBackend),
		each(s.Rules, p.Child("rules"), ingressRule),
		each(s.TLS, p.Child("tls"), ingressTLS))...)
	if s.IngressClassName != nil {
		errs = append(errs, named(*s.IngressClassName, p.Child("ingressClassName"), apivalidation.NameIsDNSSubdomain)...)
	}
	annotation, annotated := in.Annotations[ingressClassAnnotation]
	return append(errs, refuse(old == nil && annotated && s.IngressClassName != nil && annotation != *s.IngressClassName,
		field.Invalid(field.NewPath("annotations").Child(ingressClassAnnotation), annotation, "must match `ingressClassName` when both are specified"))...)
}

const ingressClassAnnotation = "kubernetes.io/ingress.class"

// hostname may start with a wildcard.
func hostname(name string, p *field.Path) field.ErrorList {
	if strings.Contains(name, "*") {
		return invalids(name, p, validation.IsWildcardDNS1123Subdomain(name))
	}
	return dnsSubdomain(name, p)
}

func ingressTLS(t *networkingv1.IngressTLS, p *field.Path) field.ErrorList {
	errs := each(t.Hosts, p.Child("hosts"), func(host *string, p *field.Path) field.ErrorList { return hostname(*host, p) })
	if t.SecretName == "" {
		return errs
	}
	return append(errs, named(t.SecretName, p.Child("secretName"), apivalidation.NameIsDNSSubdomain)...)
}

func ingressRule(r *networkingv1.IngressRule, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.Host != "" {
		at := p.Child("host")
		errs = concat(refuse(netutils.ParseIPSloppy(r.Host) != nil, field.Invalid(at, r.Host, "must be a DNS name, not an IP address")),
			hostname(r.Host, at))
	}
	if r.HTTP == nil {
		return errs
	}
	paths := p.Child("http", "paths")
	return concat(errs, refuse(len(r.HTTP.Paths) == 0, field.Required(paths, "")), each(r.HTTP.Paths, paths, ingressPath))
}

func ingressPath(h *networkingv1.HTTPIngressPath, p *field.Path) field.ErrorList {
	at := p.Child("path")
	if h.PathType == nil {
		return field.ErrorList{field.Required(p.Child("pathType"), "pathType must be specified")}
	}
	relative := refuse(!strings.HasPrefix(h.Path, "/"), field.Invalid(at, h.Path, "must be an absolute path"))
	var errs field.ErrorList
	switch *h.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		errs = relative
		for _, part := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			errs = append(errs, refuse(strings.Contains(h.Path, part), field.Invalid(at, h.Path, fmt.Sprintf("must not contain '%s'", part)))...)
		}
		for _, end := range []string{"/..", "/."} {
			errs = append(errs, refuse(strings.HasSuffix(h.Path, end), field.Invalid(at, h.Path, fmt.Sprintf("cannot end with '%s'", end)))...)
		}
	case networkingv1.PathTypeImplementationSpecific:
		if h.Path != "" {
			errs = relative
		}
	default:
		errs = supported(*h.PathType, p.Child("pathType"), networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix)
	}
	return append(errs, ingressBackend(&h.Backend, p.Child("backend"))...)
}

func ingressBackend(b *networkingv1.IngressBackend, p *field.Path) field.ErrorList {
	switch {
	case b.Resource != nil && b.Service != nil:
		return field.ErrorList{field.Invalid(p, "", "cannot set both resource and service backends")}
	case b.Resource != nil:
		return typedReference(b.Resource.APIGroup, b.Resource.Kind, b.Resource.Name, p.Child("resource"))
	case b.Service == nil:
		return field.ErrorList{field.Invalid(p, "", "resource or service backend is required")}
	}
	at, port := p.Child("service"), b.Service.Port
	errs := requiredName(b.Service.Name, at.Child("name"), apivalidation.NameIsDNSLabel)
	switch {
	case port.Name != "" && port.Number != 0:
		return append(errs, field.Invalid(p, "", "cannot set both port name & port number"))
	case port.Name != "":
		return append(errs, invalids(port.Name, at.Child("port", "name"), validation.IsValidPortName(port.Name))...)
	case port.Number != 0:
		return append(errs, portNumber(port.Number, at.Child("port", "number"))...)
	}
	return append(errs, field.Required(p, "port name or number is required"))
}

// typedReference checks a reference to an object of any kind.
func typedReference(group *string, kind, name string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if group != nil {
		errs = dnsSubdomain(*group, p.Child("apiGroup"))
	}
	return concat(errs, pathSegment(kind, p.Child("kind")), pathSegment(name, p.Child("name")))
}

// pathSegment is a required name that can stand in a URL.
func pathSegment(name string, p *field.Path) field.ErrorList {
	return requiredName(name, p, path.ValidatePathSegmentName)
}

// IngressStatus holds the rules of a write to ingresses/status.
func IngressStatus(in, old *networkingv1.Ingress) field.ErrorList {
	return append(metaUpdate(&in.ObjectMeta, &old.ObjectMeta),
		each(in.Status.LoadBalancer.Ingress, field.NewPath("status", "loadBalancer", "ingress"), func(l *networkingv1.IngressLoadBalancerIngress, p *field.Path) field.ErrorList {
			var errs field.ErrorList
			if l.IP != "" {
				errs = ipAddress(l.IP, p.Child("ip"))
			}
			return append(errs, loadBalancerHostname(l.Hostname, p.Child("hostname"))...)
		})...)
}

// IngressClass holds the rules of networking.k8s.io/v1 IngressClasses.
func IngressClass(c, old *networkingv1.IngressClass) field.ErrorList {
	p := field.NewPath("spec")
	var errs field.ErrorList
	if old != nil {
		errs = concat(metaUpdate(&c.ObjectMeta, &old.ObjectMeta), unchanged(c.Spec.Controller, old.Spec.Controller, p.Child("controller")))
	}
	errs = append(errs, metaCreate(&c.ObjectMeta, clusterScoped, apivalidation.NameIsDNSSubdomain)...)
	if at, name := p.Child("controller"), c.Spec.Controller; name == "" {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, refuse(len(name) > maxIngressController, field.TooLong(at, "", maxIngressController))...)
		errs = append(errs, validation.IsDomainPrefixedPath(at, name)...)
	}
	return append(errs, when(c.Spec.Parameters, p.Child("parameters"), classParameters)...)
}

func classParameters(r *networkingv1.IngressClassParametersReference, p *field.Path) field.ErrorList {
	const inNamespace, inCluster = networkingv1.IngressClassParametersReferenceScopeNamespace, networkingv1.IngressClassParametersReferenceScopeCluster
	var errs, last field.ErrorList
	if r.APIGroup != nil {
		errs = dnsSubdomain(*r.APIGroup, p.Child("apiGroup"))
	}
	for _, f := range []struct{ name, value string }{{"kind", r.Kind}, {"name", r.Name}} {
		if f.value == "" { // declared on the type, thus looked at last
			last = append(last, field.Required(p.Child(f.name), ""))
		} else {
			errs = append(errs, named(f.value, p.Child(f.name), path.ValidatePathSegmentName)...)
		}
	}
	namespace := p.Child("namespace")
	switch {
	case r.Scope == nil:
		errs = append(errs, field.Required(p.Child("scope"), ""))
	case *r.Scope == inNamespace && r.Namespace == nil:
		errs = append(errs, field.Required(namespace, "`parameters.scope` is set to 'Namespace'"))
	case *r.Scope == inNamespace:
		errs = append(errs, named(*r.Namespace, namespace, apivalidation.ValidateNamespaceName)...)
	case *r.Scope == inCluster:
		errs = append(errs, refuse(r.Namespace != nil, field.Forbidden(namespace, "`parameters.scope` is set to 'Cluster'"))...)
	default:
		errs = append(errs, field.NotSupported(p.Child("scope"), *r.Scope, []string{inCluster, inNamespace}))
	}
	return append(errs, last...)
}
