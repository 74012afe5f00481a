package validation

import (
	"crypto/x509"
	"fmt"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of the lifetime of a pod's certificate, in seconds.
const (
	shortestCertificate = 60 * 60
	longestCertificate  = 91 * 24 * 60 * 60
	longestKubernetes   = 24 * 60 * 60 // of the signers of Kubernetes
)

// PodCertificateRequest holds the rules of certificates.k8s.io/v1
// PodCertificateRequests, whose spec never changes.
func PodCertificateRequest(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
	s, p := &r.Spec, field.NewPath("spec")
	if old != nil {
		return append(metaUpdate(&r.ObjectMeta, &old.ObjectMeta), unchangedShown(r.Spec, old.Spec, p)...)
	}
	errs := concat(metaCreate(&r.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain),
		signerName(s.SignerName, p.Child("signerName")),
		userAnnotations(s.UnverifiedUserAnnotations, p.Child("unverifiedUserAnnotations")),
		named(s.PodName, p.Child("podName"), apivalidation.NameIsDNSSubdomain), requestUID(s.PodUID, p.Child("podUID")),
		named(s.ServiceAccountName, p.Child("serviceAccountName"), apivalidation.ValidateServiceAccountName),
		requestUID(s.ServiceAccountUID, p.Child("serviceAccountUID")),
		named(string(s.NodeName), p.Child("nodeName"), apivalidation.NameIsDNSSubdomain), requestUID(s.NodeUID, p.Child("nodeUID")))
	at := p.Child("maxExpirationSeconds")
	if s.MaxExpirationSeconds == nil {
		return append(errs, field.Required(at, "must be set"))
	}
	longest := int32(longestCertificate)
	if domain, _, _ := strings.Cut(s.SignerName, "/"); domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io") {
		longest = longestKubernetes
	}
	if n := *s.MaxExpirationSeconds; n < shortestCertificate || n > longest {
		errs = append(errs, field.Invalid(at, n, fmt.Sprintf("must be in the range [%d, %d]", shortestCertificate, longest)))
	}
	return append(errs, stubRequest(s.StubPKCS10Request, p.Child("stubPKCS10Request"))...)
}

func requestUID(uid types.UID, p *field.Path) field.ErrorList {
	const longest = 128
	return append(refuse(uid == "", field.Invalid(p, uid, "must not be empty")), refuse(len(uid) > longest, field.TooLong(p, uid, longest))...)
}

func stubRequest(der []byte, p *field.Path) field.ErrorList {
	csr, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return field.ErrorList{field.Invalid(p, field.OmitValueType{}, "must be a valid PKCS#10 certificate signing request")}
	}
	return refuse(csr.CheckSignature() != nil, field.Invalid(p, field.OmitValueType{}, "could not verify the signature"))
}

// PodCertificateRequestStatus holds the rules of a write to status: once it says
// that the request is issued, denied or failed, it is final. The certificate is
// not looked into.
func PodCertificateRequestStatus(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
	if errs := metaUpdate(&r.ObjectMeta, &old.ObjectMeta); len(errs) > 0 {
		return errs
	}
	p := field.NewPath("status")
	if errs := requestConditions(r.Status.Conditions, p.Child("conditions")); len(errs) > 0 {
		return errs
	}
	final := func(detail string, a, b certificatesv1.PodCertificateRequestStatus) field.ErrorList {
		return refuse(!sameValue(a, b), field.Invalid(p, field.OmitValueType{}, detail))
	}
	switch verdict := verdictOn(r); {
	case verdictOn(old) != "":
		return final("immutable after PodCertificateRequest is issued, denied, or failed", r.Status, old.Status)
	case verdict == "":
		return final(`status is immutable unless transitioning to "Issued", "Denied", or "Failed"`, r.Status, old.Status)
	case verdict != certificatesv1.PodCertificateRequestConditionTypeIssued:
		return final("non-condition status fields must be empty when denying or failing the PodCertificateRequest",
			r.Status, certificatesv1.PodCertificateRequestStatus{Conditions: r.Status.Conditions})
	}
	return nil
}

func verdictOn(r *certificatesv1.PodCertificateRequest) string {
	for _, c := range r.Status.Conditions {
		if c.Status == metav1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

func requestConditions(conditions []metav1.Condition, p *field.Path) field.ErrorList {
	known := []string{certificatesv1.PodCertificateRequestConditionTypeIssued, certificatesv1.PodCertificateRequestConditionTypeDenied, certificatesv1.PodCertificateRequestConditionTypeFailed}
	verdicts := 0
	errs := each(conditions, p, func(c *metav1.Condition, p *field.Path) field.ErrorList {
		if errs := supported(c.Type, p.Child("type"), known...); len(errs) > 0 {
			return errs
		}
		verdicts++
		return append(refuse(verdicts > 1, field.Invalid(p.Child("type"), c.Type, `There may be at most one condition with type "Issued", "Denied", or "Failed"`)),
			supported(c.Status, p.Child("status"), metav1.ConditionTrue)...)
	})
	return append(errs, metav1validation.ValidateConditions(conditions, p)...)
}

// userAnnotations are annotations for a signer, whose keys need a domain.
func userAnnotations(annotations map[string]string, p *field.Path) field.ErrorList {
	errs := apivalidation.ValidateAnnotations(annotations, p)
	for _, key := range sortedKeys(annotations) {
		errs = append(errs, validation.IsDomainPrefixedKey(p, key)...)
	}
	return errs
}
