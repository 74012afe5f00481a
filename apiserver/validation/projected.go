package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	minTokenSeconds = 10 * 60
	maxTokenSeconds = 1 << 32
)

func downwardAPI(s *corev1.DownwardAPIVolumeSource, p *field.Path) field.ErrorList {
	errs := fileMode(s.DefaultMode, p.Child("defaultMode"))
	for i := range s.Items { // errors name the volume, not the item
		errs = append(errs, downwardFile(&s.Items[i], p)...)
	}
	return errs
}

func downwardFile(f *corev1.DownwardAPIVolumeFile, p *field.Path) field.ErrorList {
	errs := concat(required(f.Path, p.Child("path")), localPath(f.Path, p.Child("path")))
	switch {
	case f.FieldRef != nil:
		errs = append(errs, fieldRef(f.FieldRef, fileFields, p.Child("fieldRef"))...)
		errs = append(errs, refuse(f.ResourceFieldRef != nil,
			field.Invalid(p, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))...)
	case f.ResourceFieldRef != nil:
		errs = append(errs, resourceFieldRef(f.ResourceFieldRef, true, p.Child("resourceFieldRef"))...)
	default:
		errs = append(errs, field.Required(p, "one of fieldRef and resourceFieldRef is required"))
	}
	return append(errs, fileMode(f.Mode, p.Child("mode"))...)
}

// projection checks the sources of one projected volume, which share a directory.
type projection struct {
	p     *field.Path // of the volume
	paths sets.Set[string]
}

func (c *podContext) projected(s *corev1.ProjectedVolumeSource, p *field.Path) field.ErrorList {
	in := projection{p, sets.New[string]()}
	return append(fileMode(s.DefaultMode, p.Child("defaultMode")), each(s.Sources, p.Child("sources"), in.source)...)
}

func (in projection) source(s *corev1.VolumeProjection, p *field.Path) field.ErrorList {
	errs, count := field.ErrorList{}, 0
	add := func(set bool, rule func() field.ErrorList) {
		if set {
			count++
			errs = append(errs, rule()...)
		}
	}
	add(s.Secret != nil, func() field.ErrorList { return in.keys(s.Secret.Name, s.Secret.Items, p.Child("secret")) })
	add(s.ConfigMap != nil, func() field.ErrorList { return in.keys(s.ConfigMap.Name, s.ConfigMap.Items, p.Child("configMap")) })
	add(s.DownwardAPI != nil, func() field.ErrorList { return in.files(s.DownwardAPI.Items, p.Child("downwardAPI")) })
	add(s.ServiceAccountToken != nil, func() field.ErrorList { return in.token(s.ServiceAccountToken, p.Child("serviceAccountToken")) })
	add(s.ClusterTrustBundle != nil, func() field.ErrorList { return in.trustBundle(s.ClusterTrustBundle, p.Child("clusterTrustBundle")) })
	add(s.PodCertificate != nil, func() field.ErrorList { return in.certificate(s.PodCertificate, p.Child("podCertificate")) })
	return append(errs, refuse(count > 1, field.Forbidden(p, "may not specify more than 1 volume type per source"))...)
}

// claim takes a path in the volume; value is what the error shows of a second taker.
func (in projection) claim(path, value string) field.ErrorList {
	if path == "" {
		return nil
	}
	errs := refuse(in.paths.Has(path), field.Invalid(in.p, value, "conflicting duplicate paths"))
	in.paths.Insert(path)
	return errs
}

func (in projection) keys(name string, items []corev1.KeyToPath, p *field.Path) field.ErrorList {
	return append(required(name, p.Child("name")), each(items, p.Child("items"), func(k *corev1.KeyToPath, p *field.Path) field.ErrorList {
		return append(keyToPath(k, p), in.claim(k.Path, name)...)
	})...)
}

func (in projection) files(items []corev1.DownwardAPIVolumeFile, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range items {
		errs = append(errs, concat(downwardFile(&items[i], p), in.claim(items[i].Path, items[i].Path))...)
	}
	return errs
}

func (in projection) token(t *corev1.ServiceAccountTokenProjection, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.ExpirationSeconds != nil {
		errs = tokenSeconds(*t.ExpirationSeconds, p.Child("expirationSeconds"))
	}
	if t.Path == "" {
		return append(errs, field.Required(in.p.Child("path"), ""))
	}
	return append(errs, localPath(t.Path, in.p.Child("path"))...)
}

func tokenSeconds(seconds int64, p *field.Path) field.ErrorList {
	return concat(
		refuse(seconds < minTokenSeconds, field.Invalid(p, seconds, "may not specify a duration less than 10 minutes")),
		refuse(seconds > maxTokenSeconds, field.Invalid(p, seconds, "may not specify a duration larger than 2^32 seconds")))
}

func (in projection) trustBundle(b *corev1.ClusterTrustBundleProjection, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case b.Name != nil && b.SignerName != nil:
		errs = append(errs, field.Invalid(p, byFieldName(b), "only one of name and signerName may be used"))
	case b.Name != nil:
		errs = append(errs, refuse(*b.Name == "", field.Required(p.Child("name"), "must be a valid object name"))...)
		for _, m := range trustBundleName(signerOf(*b.Name))(*b.Name, false) {
			errs = append(errs, field.Invalid(p.Child("name"), *b.Name, "not a valid clustertrustbundlename: "+m))
		}
		errs = append(errs, refuse(b.LabelSelector != nil,
			field.Invalid(p.Child("labelSelector"), b.LabelSelector, "labelSelector must be unset if name is specified"))...)
	case b.SignerName != nil:
		errs = append(errs, concat(refuse(*b.SignerName == "", field.Required(p.Child("signerName"), "must be a valid signer name")),
			signerName(*b.SignerName, p.Child("signerName")), labelSelector(b.LabelSelector, p.Child("labelSelector")))...)
	default:
		errs = append(errs, field.Required(p, "either name or signerName must be specified"))
	}
	return concat(errs, required(b.Path, p.Child("path")), localPath(b.Path, p.Child("path")), in.claim(b.Path, b.Path))
}

func (in projection) certificate(c *corev1.PodCertificateProjection, p *field.Path) field.ErrorList {
	errs := append(signerName(c.SignerName, p.Child("signerName")), userAnnotations(c.UserAnnotations, p.Child("userAnnotations"))...)
	errs = append(errs, supported(c.KeyType, p.Child("keyType"), "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096")...)
	if s := c.MaxExpirationSeconds; s != nil {
		const hour, day = 3600, 24 * 3600
		limit := int32(91 * day)
		if strings.HasPrefix(c.SignerName, "kubernetes.io/") {
			limit = day
		}
		errs = append(errs, refuse(*s < hour || *s > limit,
			field.Invalid(p.Child("maxExpirationSeconds"), *s, fmt.Sprintf("if provided, maxExpirationSeconds must be in the range [%d, %d]", hour, limit)))...)
	}
	paths := 0
	for _, f := range []struct{ name, path string }{
		{"credentialBundlePath", c.CredentialBundlePath}, {"keyPath", c.KeyPath}, {"certificateChainPath", c.CertificateChainPath},
	} {
		if f.path == "" {
			continue
		}
		paths++
		errs = append(errs, concat(localPath(f.path, p.Child(f.name)), in.claim(f.path, f.path))...)
	}
	return append(errs, refuse(paths == 0,
		field.Required(p, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"))...)
}

// signerName is a domain and a path, like example.com/signer. Its length leaves
// room for a domain, and for a namespace and a name in the path.
func signerName(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	domain, path, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(path, "/") {
		return field.ErrorList{field.Invalid(p, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	const maxDomain = validation.DNS1123SubdomainMaxLength
	const maxName = maxDomain + 1 + validation.DNS1123LabelMaxLength + 1 + validation.DNS1123SubdomainMaxLength
	return concat(
		refuse(len(domain) > maxDomain, field.TooLong(p, "", maxDomain)),
		firstBadLabel(domain, validation.IsDNS1123Label, p),
		refuse(!strings.Contains(domain, "."), field.Invalid(p, domain, "should be a domain with at least two segments separated by dots")),
		firstBadLabel(path, validation.IsDNS1123Subdomain, p),
		refuse(len(name) > maxName, field.TooLong(p, "", maxName)))
}

func firstBadLabel(value string, rule func(string) []string, p *field.Path) field.ErrorList {
	for label := range strings.SplitSeq(value, ".") {
		var errs field.ErrorList
		for _, m := range rule(label) {
			errs = append(errs, field.Invalid(p, value, fmt.Sprintf("validating label %q: %s", label, m)))
		}
		if len(errs) > 0 {
			return errs
		}
	}
	return nil
}

// signerOf takes the signer out of a trust bundle's name, which starts with it.
func signerOf(name string) string {
	i := strings.LastIndex(name, ":")
	if i < 0 {
		return ""
	}
	return strings.ReplaceAll(name[:i], ":", "/")
}

// trustBundleName is the name rule of a signer's bundles, or of those of none.
func trustBundleName(signer string) nameRule {
	return func(name string, prefix bool) []string {
		if signer == "" {
			if strings.Contains(name, ":") {
				return []string{"ClusterTrustBundle without signer name must not have \":\" in its name"}
			}
			return apivalidation.NameIsDNSSubdomain(name, prefix)
		}
		start := strings.ReplaceAll(signer, "/", ":") + ":"
		rest, ok := strings.CutPrefix(name, start)
		if !ok {
			return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, start)}
		}
		return apivalidation.NameIsDNSSubdomain(rest, prefix)
	}
}
