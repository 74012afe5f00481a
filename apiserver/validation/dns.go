package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of name resolution in the C library.
const (
	maxNameservers   = 3
	maxSearches      = 32
	maxSearchesChars = 2048
)

func dnsConfig(c *corev1.PodDNSConfig, policy corev1.DNSPolicy, p *field.Path) field.ErrorList {
	if policy == corev1.DNSNone {
		if c == nil {
			return field.ErrorList{field.Required(p, "must provide `dnsConfig` when `dnsPolicy` is None")}
		}
		if len(c.Nameservers) == 0 {
			return field.ErrorList{field.Required(p.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")}
		}
	}
	if c == nil {
		return nil
	}
	servers, searches := p.Child("nameservers"), p.Child("searches")
	return concat(
		refuse(len(c.Nameservers) > maxNameservers,
			field.Invalid(servers, c.Nameservers, fmt.Sprintf("must not have more than %v nameservers", maxNameservers))),
		each(c.Nameservers, servers, func(ip *string, p *field.Path) field.ErrorList { return ipAddress(*ip, p) }),
		refuse(len(c.Searches) > maxSearches,
			field.Invalid(searches, c.Searches, fmt.Sprintf("must not have more than %v search paths", maxSearches))),
		refuse(len(strings.Join(c.Searches, " ")) > maxSearchesChars,
			field.Invalid(searches, c.Searches, fmt.Sprintf("must not have more than %v characters (including spaces) in the search list", maxSearchesChars))),
		each(c.Searches, searches, searchPath),
		each(c.Options, p.Child("options"), func(o *corev1.PodDNSConfigOption, p *field.Path) field.ErrorList {
			return refuse(o.Name == "", field.Required(p, "must not be empty"))
		}))
}

func searchPath(search *string, p *field.Path) field.ErrorList {
	if *search == "." {
		return nil
	}
	name := strings.TrimSuffix(*search, ".")
	return invalids(name, p, validation.IsDNS1123SubdomainWithUnderscore(name))
}
