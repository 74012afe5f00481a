package printers

import (
	"fmt"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func ingressColumns() *Columns {
	return columns(func(i *networkingv1.Ingress, now time.Time) []any {
		var points []string
		for _, p := range i.Status.LoadBalancer.Ingress {
			points = append(points, or(p.IP, p.Hostname))
		}
		ports := "80"
		if len(i.Spec.TLS) > 0 {
			ports = "80, 443"
		}
		return []any{i.Name, value(i.Spec.IngressClassName, none), hosts(i.Spec.Rules), addresses(points), ports, ageOf(i, now)}
	},
		name(), text("Class", "The name of the IngressClass resource that should be used for additional configuration"),
		text("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
		text("Address", "Address is a list containing ingress points for the load-balancer"),
		text("Ports", "Ports of TLS configurations that open"), age(),
	)
}

// hosts counts the rules that it does not show, with a host or without.
func hosts(rules []networkingv1.IngressRule) string {
	var shown []string
	for _, r := range rules {
		if len(shown) == shownAtMost {
			return fmt.Sprintf("%s + %d more...", strings.Join(shown, ","), len(rules)-shownAtMost)
		}
		if r.Host != "" {
			shown = append(shown, r.Host)
		}
	}
	return or(strings.Join(shown, ","), "*")
}

func ingressClassColumns() *Columns {
	return columns(func(c *networkingv1.IngressClass, now time.Time) []any {
		parameters := none
		if p := c.Spec.Parameters; p != nil {
			parameters = schema.GroupKind{Group: value(p.APIGroup, ""), Kind: p.Kind}.String() + "/" + p.Name
		}
		return []any{c.Name, c.Spec.Controller, parameters, ageOf(c, now)}
	},
		name(), text("Controller", "Controller that is responsible for handling this class"),
		text("Parameters", "A reference to a resource with additional parameters"), age(),
	)
}

func networkPolicyColumns() *Columns {
	return columns(func(p *networkingv1.NetworkPolicy, now time.Time) []any {
		return []any{p.Name, metav1.FormatLabelSelector(&p.Spec.PodSelector), ageOf(p, now)}
	},
		name(), text("Pod-Selector", networkingv1.NetworkPolicySpec{}.SwaggerDoc()["podSelector"]), age(),
	)
}

func serviceCIDRColumns() *Columns {
	return columns(func(c *networkingv1.ServiceCIDR, now time.Time) []any {
		return []any{c.Name, strings.Join(c.Spec.CIDRs, ","), ageOf(c, now)}
	},
		name(), text("CIDRs", networkingv1.ServiceCIDRSpec{}.SwaggerDoc()["cidrs"]), age(),
	)
}

// ipAddressColumns have a cell more than definitions, as in Kubernetes.
func ipAddressColumns() *Columns {
	return columns(func(a *networkingv1.IPAddress, now time.Time) []any {
		parent := none
		if p := a.Spec.ParentRef; p != nil {
			parent = strings.ToLower(schema.GroupResource{Group: p.Group, Resource: p.Resource}.String())
			if p.Namespace != "" {
				parent += "/" + p.Namespace
			}
			parent += "/" + p.Name
		}
		return []any{a.Name, parent, ageOf(a, now)}
	},
		name(), text("ParentRef", networkingv1.IPAddressSpec{}.SwaggerDoc()["parentRef"]),
	)
}
