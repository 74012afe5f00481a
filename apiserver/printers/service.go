package printers

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

func serviceColumns() *Columns {
	spec := corev1.ServiceSpec{}.SwaggerDoc()
	return columns(func(s *corev1.Service, now time.Time) []any {
		ip := none
		if len(s.Spec.ClusterIPs) > 0 {
			ip = s.Spec.ClusterIPs[0]
		}
		return []any{
			s.Name, string(s.Spec.Type), ip, externalIP(s), or(join(s.Spec.Ports, servicePort), none), ageOf(s, now), labelsOf(s.Spec.Selector),
		}
	},
		name(), text("Type", spec["type"]), text("Cluster-IP", spec["clusterIP"]), text("External-IP", spec["externalIPs"]),
		text("Port(s)", spec["ports"]), age(), wide(text("Selector", spec["selector"])),
	)
}

func servicePort(p corev1.ServicePort) string {
	if p.NodePort > 0 {
		return fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, p.Protocol)
	}
	return fmt.Sprintf("%d/%s", p.Port, p.Protocol)
}

func externalIP(s *corev1.Service) string {
	external := strings.Join(s.Spec.ExternalIPs, ",")
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return or(external, none)
	case corev1.ServiceTypeLoadBalancer:
		var points []string
		for _, p := range s.Status.LoadBalancer.Ingress {
			points = append(points, or(p.IP, p.Hostname))
		}
		balanced := addresses(points)
		if balanced != "" && external != "" {
			return balanced + "," + external
		}
		return or(balanced+external, "<pending>")
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	}
	return unknown
}

// addresses are those of a load balancer, each once.
func addresses(points []string) string {
	points = slices.DeleteFunc(points, func(p string) bool { return p == "" })
	slices.Sort(points)
	return strings.Join(slices.Compact(points), ",")
}

func endpointsColumns() *Columns {
	return columns(func(e *corev1.Endpoints, now time.Time) []any {
		return []any{e.Name, subsets(e), ageOf(e, now)}
	},
		name(), text("Endpoints", corev1.Endpoints{}.SwaggerDoc()["subsets"]), age(),
	)
}

func subsets(e *corev1.Endpoints) string {
	if len(e.Subsets) == 0 {
		return none
	}
	var shown []string
	for _, s := range e.Subsets {
		if len(s.Ports) == 0 { // a headless Service may have none
			for _, a := range s.Addresses {
				shown = append(shown, a.IP)
			}
		}
		for _, p := range s.Ports {
			for _, a := range s.Addresses {
				shown = append(shown, net.JoinHostPort(a.IP, strconv.Itoa(int(p.Port))))
			}
		}
	}
	return clipped(shown, shownAtMost, ",")
}

func endpointSliceColumns() *Columns {
	doc := discoveryv1.EndpointSlice{}.SwaggerDoc()
	return columns(func(s *discoveryv1.EndpointSlice, now time.Time) []any {
		var ports, endpoints []string
		for _, p := range s.Ports {
			port := value(p.Name, "*")
			if p.Port != nil {
				port = strconv.Itoa(int(*p.Port))
			}
			ports = append(ports, port)
		}
		for _, e := range s.Endpoints {
			endpoints = append(endpoints, e.Addresses...)
		}
		return []any{
			s.Name, string(s.AddressType), or(clipped(ports, shownAtMost, ","), unset), or(clipped(endpoints, shownAtMost, ","), unset), ageOf(s, now),
		}
	},
		name(), text("AddressType", doc["addressType"]), text("Ports", doc["ports"]), text("Endpoints", doc["endpoints"]), age(),
	)
}
