package validation

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const minCertificateSeconds = 600

var keyUsages = []certificatesv1.KeyUsage{
	certificatesv1.UsageAny, certificatesv1.UsageCertSign, certificatesv1.UsageClientAuth, certificatesv1.UsageCodeSigning,
	certificatesv1.UsageContentCommitment, certificatesv1.UsageCRLSign, certificatesv1.UsageDataEncipherment, certificatesv1.UsageDecipherOnly,
	certificatesv1.UsageDigitalSignature, certificatesv1.UsageEmailProtection, certificatesv1.UsageEncipherOnly, certificatesv1.UsageIPsecEndSystem,
	certificatesv1.UsageIPsecTunnel, certificatesv1.UsageIPsecUser, certificatesv1.UsageKeyAgreement, certificatesv1.UsageKeyEncipherment,
	certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC, certificatesv1.UsageOCSPSigning, certificatesv1.UsageSMIME,
	certificatesv1.UsageServerAuth, certificatesv1.UsageSigning, certificatesv1.UsageTimestamping,
}

// CertificateSigningRequest holds the rules of certificates.k8s.io/v1
// CertificateSigningRequests, which may have any name.
func CertificateSigningRequest(c, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	errs := append(metaCreate(&c.ObjectMeta, clusterScoped, func(string, bool) []string { return nil }), csrSpec(&c.Spec, field.NewPath("spec"))...)
	errs = append(errs, csrConditions(&c.Status, field.NewPath("status", "conditions"))...)
	if old != nil {
		errs = append(errs, metaUpdate(&c.ObjectMeta, &old.ObjectMeta)...)
	}
	return errs
}

func csrSpec(s *certificatesv1.CertificateSigningRequestSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if err := certificateRequest(s.Request); err != nil {
		errs = append(errs, field.Invalid(p.Child("request"), s.Request, err.Error()))
	}
	usages, seen := p.Child("usages"), sets.New[certificatesv1.KeyUsage]()
	errs = append(errs, refuse(len(s.Usages) == 0, field.Required(usages, ""))...)
	errs = append(errs, each(s.Usages, usages, func(u *certificatesv1.KeyUsage, p *field.Path) field.ErrorList {
		errs := append(supported(*u, p, keyUsages...), refuse(seen.Has(*u), field.Duplicate(p, *u))...)
		seen.Insert(*u)
		return errs
	})...)
	if at := p.Child("signerName"); s.SignerName == "kubernetes.io/legacy-unknown" {
		errs = append(errs, field.Invalid(at, s.SignerName, "the legacy signerName is not allowed via this API version"))
	} else {
		errs = append(errs, signerName(s.SignerName, at)...)
	}
	if e := s.ExpirationSeconds; e != nil && *e < minCertificateSeconds {
		errs = append(errs, field.Invalid(p.Child("expirationSeconds"), *e, "may not specify a duration less than 600 seconds (10 minutes)"))
	}
	return errs
}

func certificateRequest(raw []byte) error {
	block, _ := pem.Decode(raw)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return csr.CheckSignature()
}

func csrConditions(s *certificatesv1.CertificateSigningRequestStatus, p *field.Path) field.ErrorList {
	seen := sets.New[certificatesv1.RequestConditionType]()
	errs := each(s.Conditions, p, func(c *certificatesv1.CertificateSigningRequestCondition, p *field.Path) field.ErrorList {
		errs := append(required(c.Type, p.Child("type")), oneOf(c.Status, p.Child("status"), corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown)...)
		switch c.Type {
		case certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed:
			errs = append(errs, refuse(c.Status != corev1.ConditionTrue && c.Status != "",
				field.NotSupported(p.Child("status"), c.Status, []corev1.ConditionStatus{corev1.ConditionTrue}))...)
		}
		errs = append(errs, refuse(seen.Has(c.Type), field.Duplicate(p.Child("type"), c.Type))...)
		seen.Insert(c.Type)
		return errs
	})
	return append(errs, refuse(seen.HasAll(certificatesv1.CertificateApproved, certificatesv1.CertificateDenied),
		field.Invalid(p, certificatesv1.CertificateDenied, "Approved and Denied conditions are mutually exclusive"))...)
}

// CertificateSigningRequestStatus holds the rules of a write to
// certificatesigningrequests/status: what was decided stays, and so does a
// certificate once issued.
func CertificateSigningRequestStatus(c, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	p := field.NewPath("status")
	errs := append(CertificateSigningRequest(c, old), refuse(len(old.Status.Certificate) > 0 && string(old.Status.Certificate) != string(c.Status.Certificate),
		field.Forbidden(p.Child("certificate"), "updates may not change certificate content"))...)
	errs = append(errs, keptConditions(c, old, p.Child("conditions"), certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed)...)
	for _, t := range []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied} {
		errs = append(errs, refuse(countConditions(c, t) > countConditions(old, t),
			field.Forbidden(p.Child("conditions"), fmt.Sprintf("updates may not add a condition of type %q", t)))...)
	}
	if len(c.Status.Certificate) > 0 && len(old.Status.Certificate) == 0 {
		errs = append(errs, issuedCertificate(c.Status.Certificate, p.Child("certificate"))...)
	}
	return errs
}

// CertificateSigningRequestApproval holds the rules of a write to
// certificatesigningrequests/approval.
func CertificateSigningRequestApproval(c, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	p := field.NewPath("status", "conditions")
	return append(CertificateSigningRequest(c, old),
		keptConditions(c, old, p, certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed)...)
}

func countConditions(c *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) int {
	n := 0
	for _, condition := range c.Status.Conditions {
		if condition.Type == t {
			n++
		}
	}
	return n
}

func keptConditions(c, old *certificatesv1.CertificateSigningRequest, p *field.Path, types ...certificatesv1.RequestConditionType) field.ErrorList {
	var errs field.ErrorList
	for _, t := range types {
		errs = append(errs, refuse(countConditions(c, t) < countConditions(old, t),
			field.Forbidden(p, fmt.Sprintf("updates may not remove a condition of type %q", t)))...)
	}
	return errs
}

func issuedCertificate(raw []byte, p *field.Path) field.ErrorList {
	var block *pem.Block
	blocks := 0
	for {
		if block, raw = pem.Decode(raw); block == nil {
			break
		}
		blocks++
		if block.Type != "CERTIFICATE" {
			return field.ErrorList{field.Invalid(p, "<certificate data>", fmt.Sprintf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type))}
		}
		if len(block.Headers) != 0 {
			return field.ErrorList{field.Invalid(p, "<certificate data>", "no PEM block headers are permitted")}
		}
		if _, err := x509.ParseCertificates(block.Bytes); err != nil {
			return field.ErrorList{field.Invalid(p, "<certificate data>", err.Error())}
		}
	}
	return refuse(blocks == 0, field.Invalid(p, "<certificate data>", "must contain at least one CERTIFICATE PEM block"))
}

// ClusterTrustBundle holds the rules of certificates.k8s.io/v1
// ClusterTrustBundles, whose signer never changes.
func ClusterTrustBundle(b, old *certificatesv1.ClusterTrustBundle) field.ErrorList {
	s, p := &b.Spec, field.NewPath("spec")
	errs := metaCreate(&b.ObjectMeta, clusterScoped, trustBundleName(s.SignerName))
	if s.SignerName != "" {
		errs = append(errs, signerName(s.SignerName, p.Child("signerName"))...)
	}
	errs = append(errs, trustAnchors([]byte(s.TrustBundle), p.Child("trustBundle"))...)
	if old != nil {
		errs = concat(errs, metaUpdate(&b.ObjectMeta, &old.ObjectMeta), unchanged(s.SignerName, old.Spec.SignerName, p.Child("signerName")))
	}
	return errs
}

func trustAnchors(raw []byte, p *field.Path) field.ErrorList {
	wrong := func(format string, args ...any) field.ErrorList {
		return field.ErrorList{field.Invalid(p, "<value omitted>", fmt.Sprintf(format, args...))}
	}
	seen := map[string]int{}
	for i := 0; ; i++ {
		var block *pem.Block
		if block, raw = pem.Decode(raw); block == nil {
			if i == 0 {
				return wrong("at least one trust anchor must be provided")
			}
			return nil
		}
		switch {
		case block.Type != "CERTIFICATE":
			return wrong("entry %d has bad block type: %v", i, block.Type)
		case len(block.Headers) > 0:
			return wrong("entry %d has PEM block headers", i)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			return wrong("entry %d does not parse as X.509", i)
		case !certificate.IsCA:
			return wrong("entry %d does not have the CA bit set", i)
		case !certificate.BasicConstraintsValid:
			return wrong("entry %d has invalid basic constraints", i)
		}
		if j, twice := seen[string(block.Bytes)]; twice {
			return wrong("duplicate trust anchor (indices [%d %d])", j, i)
		}
		seen[string(block.Bytes)] = i
	}
}
