package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// Limits of one EndpointSlice.
const (
	maxEndpoints        = 1000
	maxEndpointPorts    = 20000
	maxTopologyLabels   = 16
	maxAddressesPerHost = 100
	maxZoneHints        = 8
	maxNodeHints        = 8
)

// Endpoints holds the rules of core/v1 Endpoints.
func Endpoints(e, old *corev1.Endpoints) field.ErrorList {
	return append(metaBoth(&e.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain),
		each(e.Subsets, field.NewPath("subsets"), endpointSubset)...)
}

func endpointSubset(s *corev1.EndpointSubset, p *field.Path) field.ErrorList {
	return concat(
		refuse(len(s.Addresses)+len(s.NotReadyAddresses) == 0, field.Required(p, "must specify `addresses` or `notReadyAddresses`")),
		each(s.Addresses, p.Child("addresses"), endpointAddress),
		each(s.NotReadyAddresses, p.Child("notReadyAddresses"), endpointAddress),
		each(s.Ports, p.Child("ports"), func(port *corev1.EndpointPort, p *field.Path) field.ErrorList {
			var errs field.ErrorList
			if port.Name != "" {
				errs = dnsLabel(port.Name, p.Child("name"))
			} else if len(s.Ports) > 1 {
				errs = append(errs, field.Required(p.Child("name"), ""))
			}
			errs = append(errs, concat(portNumber(port.Port, p.Child("port")), oneOf(port.Protocol, p.Child("protocol"), protocols...))...)
			if port.AppProtocol != nil {
				errs = append(errs, qualifiedName(*port.AppProtocol, p.Child("appProtocol"))...)
			}
			return errs
		}))
}

func endpointAddress(a *corev1.EndpointAddress, p *field.Path) field.ErrorList {
	errs := ipAddress(a.IP, p.Child("ip"))
	if a.Hostname != "" {
		errs = append(errs, dnsLabel(a.Hostname, p.Child("hostname"))...)
	}
	if a.NodeName != nil {
		errs = append(errs, named(*a.NodeName, p.Child("nodeName"), apivalidation.NameIsDNSSubdomain)...)
	}
	return append(errs, ordinaryIP(a.IP, p.Child("ip"))...)
}

// EndpointSlice holds the rules of discovery.k8s.io/v1 EndpointSlices.
func EndpointSlice(s, old *discoveryv1.EndpointSlice) field.ErrorList {
	errs := metaBoth(&s.ObjectMeta, metaOf(old), namespaced, apivalidation.NameIsDNSSubdomain)
	p := field.NewPath("endpoints")
	if len(s.Endpoints) > maxEndpoints {
		errs = append(errs, field.TooMany(p, len(s.Endpoints), maxEndpoints))
	} else {
		errs = append(errs, each(s.Endpoints, p, func(e *discoveryv1.Endpoint, p *field.Path) field.ErrorList {
			return endpoint(e, s.AddressType, p)
		})...)
	}
	errs = append(errs, slicePorts(s.Ports, field.NewPath("ports"))...)
	at := field.NewPath("addressType")
	if old != nil && old.AddressType != s.AddressType {
		return append(errs, field.Invalid(at, nil, immutable))
	}
	errs = append(errs, oneOf(s.AddressType, at, discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6)...)
	return append(errs, each(s.Endpoints, p, addressCount)...)
}

func addressCount(e *discoveryv1.Endpoint, p *field.Path) field.ErrorList {
	at := p.Child("addresses")
	return concat(refuse(len(e.Addresses) == 0, field.Required(at, "")),
		refuse(len(e.Addresses) > maxAddressesPerHost, field.TooMany(at, len(e.Addresses), maxAddressesPerHost)))
}

func endpoint(e *discoveryv1.Endpoint, kind discoveryv1.AddressType, p *field.Path) field.ErrorList {
	errs := each(e.Addresses, p.Child("addresses"), func(a *string, p *field.Path) field.ErrorList {
		switch kind {
		case discoveryv1.AddressTypeIPv4:
			return addressOf(*a, netutils.IPv4, p)
		case discoveryv1.AddressTypeIPv6:
			return addressOf(*a, netutils.IPv6, p)
		case discoveryv1.AddressTypeFQDN:
			return validation.IsFullyQualifiedDomainName(p, *a)
		}
		return nil
	})
	if e.NodeName != nil {
		errs = append(errs, named(*e.NodeName, p.Child("nodeName"), apivalidation.NameIsDNSSubdomain)...)
	}
	at := p.Child("deprecatedTopology")
	errs = append(errs, refuse(len(e.DeprecatedTopology) > maxTopologyLabels, field.TooMany(at, len(e.DeprecatedTopology), maxTopologyLabels))...)
	errs = append(errs, metav1validation.ValidateLabels(e.DeprecatedTopology, at)...)
	if e.Hostname != nil {
		errs = append(errs, dnsLabel(*e.Hostname, p.Child("hostname"))...)
	}
	if e.Hints != nil {
		errs = append(errs, hints(e.Hints, p.Child("hints"))...)
	}
	return errs
}

func hints(h *discoveryv1.EndpointHints, p *field.Path) field.ErrorList {
	zones, nodes := sets.New[string](), sets.New[string]()
	return concat(
		refuse(len(h.ForZones) > maxZoneHints, field.TooMany(p.Child("forZones"), len(h.ForZones), maxZoneHints)),
		each(h.ForZones, p.Child("forZones"), func(z *discoveryv1.ForZone, p *field.Path) field.ErrorList {
			errs := concat(refuse(zones.Has(z.Name), field.Duplicate(p.Child("name"), z.Name)), qualifiedName(z.Name, p.Child("name")))
			zones.Insert(z.Name)
			return errs
		}),
		refuse(len(h.ForNodes) > maxNodeHints, field.TooMany(p.Child("forNodes"), len(h.ForNodes), maxNodeHints)),
		each(h.ForNodes, p.Child("forNodes"), func(n *discoveryv1.ForNode, p *field.Path) field.ErrorList {
			errs := concat(refuse(nodes.Has(n.Name), field.Duplicate(p.Child("name"), n.Name)),
				named(n.Name, p.Child("name"), apivalidation.NameIsDNSSubdomain))
			nodes.Insert(n.Name)
			return errs
		}))
}

func slicePorts(ports []discoveryv1.EndpointPort, p *field.Path) field.ErrorList {
	if len(ports) > maxEndpointPorts {
		return field.ErrorList{field.TooMany(p, len(ports), maxEndpointPorts)}
	}
	names := sets.New[string]()
	return each(ports, p, func(port *discoveryv1.EndpointPort, p *field.Path) field.ErrorList {
		var errs field.ErrorList
		name := ""
		if port.Name != nil {
			name = *port.Name
		}
		if name != "" {
			errs = dnsLabel(name, p.Child("name"))
		}
		errs = append(errs, refuse(names.Has(name), field.Duplicate(p.Child("name"), name))...)
		names.Insert(name)
		if port.Protocol == nil {
			errs = append(errs, field.Required(p.Child("protocol"), ""))
		} else {
			errs = append(errs, supported(*port.Protocol, p.Child("protocol"), protocols...)...)
		}
		if port.Port != nil {
			errs = append(errs, portNumber(*port.Port, p.Child("port"))...)
		}
		if port.AppProtocol != nil {
			errs = append(errs, qualifiedName(*port.AppProtocol, p.Child("appProtocol"))...)
		}
		return errs
	})
}

func addressOf(value string, family netutils.IPFamily, p *field.Path) field.ErrorList {
	if errs := ipAddress(value, p); len(errs) > 0 {
		return errs
	}
	return append(refuse(netutils.IPFamilyOfString(value) != family, field.Invalid(p, value, fmt.Sprintf("must be an IPv%s address", family))),
		ordinaryIP(value, p)...)
}
