package validation

import (
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// IPAddress holds the rules of networking.k8s.io/v1 IPAddresses, whose names are
// addresses in canonical form and whose parent never changes.
func IPAddress(a, old *networkingv1.IPAddress) field.ErrorList {
	p := field.NewPath("spec", "parentRef")
	if old != nil {
		return append(metaUpdate(&a.ObjectMeta, &old.ObjectMeta),
			refuse(!sameValue(a.Spec.ParentRef, old.Spec.ParentRef), field.Invalid(p, nil, immutable))...)
	}
	errs := metaCreate(&a.ObjectMeta, clusterScoped, isAddress)
	ref := a.Spec.ParentRef
	if ref == nil {
		return append(errs, field.Required(p, ""))
	}
	if ref.Group != "" {
		errs = append(errs, dnsSubdomain(ref.Group, p.Child("group"))...)
	}
	var last field.ErrorList
	for _, f := range []struct{ name, value string }{{"resource", ref.Resource}, {"name", ref.Name}} {
		if f.value == "" {
			last = append(last, field.Required(p.Child(f.name), ""))
		} else {
			errs = append(errs, named(f.value, p.Child(f.name), path.ValidatePathSegmentName)...)
		}
	}
	if ref.Namespace != "" {
		errs = append(errs, named(ref.Namespace, p.Child("namespace"), path.ValidatePathSegmentName)...)
	}
	return append(errs, last...)
}

func isAddress(name string, _ bool) []string {
	var messages []string
	for _, err := range validation.IsValidIP(nil, name) {
		messages = append(messages, err.Detail)
	}
	return messages
}

// ServiceCIDR holds the rules of networking.k8s.io/v1 ServiceCIDRs. A second
// family may be added to the first.
func ServiceCIDR(c, old *networkingv1.ServiceCIDR) field.ErrorList {
	p, cidrs := field.NewPath("spec", "cidrs"), c.Spec.CIDRs
	if old == nil {
		return append(metaCreate(&c.ObjectMeta, clusterScoped, apivalidation.NameIsDNSSubdomain), serviceCIDRs(cidrs, p)...)
	}
	errs, was := metaUpdate(&c.ObjectMeta, &old.ObjectMeta), old.Spec.CIDRs
	switch {
	case len(cidrs) == len(was):
		for i := range was {
			errs = append(errs, refuse(cidrs[i] != was[i], field.Invalid(p.Index(i), cidrs[i], immutable))...)
		}
		return errs
	case len(was) == 1 && len(cidrs) == 2:
		return concat(errs, refuse(cidrs[0] != was[0], field.Invalid(p.Index(0), cidrs[0], immutable)), serviceCIDRs(cidrs, p))
	}
	return append(errs, field.Invalid(p, cidrs, immutable))
}

func serviceCIDRs(cidrs []string, p *field.Path) field.ErrorList {
	switch {
	case len(cidrs) == 0:
		return field.ErrorList{field.Required(p, "at least one CIDR required")}
	case len(cidrs) > 2:
		return field.ErrorList{field.Invalid(p, byFieldName(networkingv1.ServiceCIDRSpec{CIDRs: cidrs}), "may only hold up to 2 values")}
	}
	errs := each(cidrs, p, func(c *string, p *field.Path) field.ErrorList { return validation.IsValidCIDR(p, *c) })
	if len(cidrs) < 2 {
		return errs
	}
	a, b := netutils.IPFamilyOfCIDRString(cidrs[0]), netutils.IPFamilyOfCIDRString(cidrs[1])
	return append(errs, refuse(a == b && a != netutils.IPFamilyUnknown,
		field.Invalid(p, cidrs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))...)
}

// ServiceCIDRStatus holds the rules of a write to servicecidrs/status.
func ServiceCIDRStatus(c, old *networkingv1.ServiceCIDR) field.ErrorList {
	return metaUpdate(&c.ObjectMeta, &old.ObjectMeta)
}
