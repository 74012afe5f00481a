package admission

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
)

const (
	// subjectSigner signs what the API server believes of its clients.
	subjectSigner = certificatesv1.KubeAPIServerClientSignerName
	mastersGroup  = "system:masters"
)

// request is the CertificateSigningRequest that a write is about, and what it was.
func signingRequest(a *Attributes, subresource string) (now, old *certificatesv1.CertificateSigningRequest, ok bool) {
	if a.GVR.GroupResource() != group(certificatesv1.GroupName, "certificatesigningrequests") || a.Subresource != subresource {
		return nil, nil, false
	}
	old, _ = a.OldObject.(*certificatesv1.CertificateSigningRequest)
	now, ok = a.Object.(*certificatesv1.CertificateSigningRequest)
	return now, old, ok
}

// maySign tells whether the user has a verb on a signer, or on all of its domain.
func maySign(lister Lister, a *Attributes, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	signers := group(certificatesv1.GroupName, "signers")
	return may(lister, a.User, verb, signers, "", "", signer) || may(lister, a.User, verb, signers, "", "", domain+"/*")
}

// CertificateApproval lets only those approve who may do so for the signer.
type CertificateApproval struct{ lister Lister }

// Name implements Plugin.
func (*CertificateApproval) Name() string { return "CertificateApproval" }

// Validate checks changes of the approval.
func (p *CertificateApproval) Validate(_ context.Context, a *Attributes) error {
	now, old, ok := signingRequest(a, "approval")
	if !ok || old == nil || maySign(p.lister, a, "approve", now.Spec.SignerName) {
		return nil
	}
	return forbidden(a, fmt.Errorf("user not permitted to approve requests with signerName %q", now.Spec.SignerName))
}

// CertificateSigning lets only those issue certificates who may do so for the signer.
type CertificateSigning struct{ lister Lister }

// Name implements Plugin.
func (*CertificateSigning) Name() string { return "CertificateSigning" }

// Validate checks changes of the certificate and of conditions.
func (p *CertificateSigning) Validate(_ context.Context, a *Attributes) error {
	now, old, ok := signingRequest(a, "status")
	if !ok || old == nil || string(now.Status.Certificate) == string(old.Status.Certificate) && reflect.DeepEqual(now.Status.Conditions, old.Status.Conditions) {
		return nil
	}
	if maySign(p.lister, a, "sign", old.Spec.SignerName) {
		return nil
	}
	return forbidden(a, fmt.Errorf("user not permitted to sign requests with signerName %q", old.Spec.SignerName))
}

// CertificateSubjectRestriction refuses to make masters by certificate.
type CertificateSubjectRestriction struct{}

// Name implements Plugin.
func (*CertificateSubjectRestriction) Name() string { return "CertificateSubjectRestriction" }

// Validate checks new requests.
func (p *CertificateSubjectRestriction) Validate(_ context.Context, a *Attributes) error {
	now, _, ok := signingRequest(a, "")
	if !ok || a.Verb != Create || now.Spec.SignerName != subjectSigner {
		return nil
	}
	request, err := parseRequest(now.Spec.Request)
	if err != nil {
		return forbidden(a, fmt.Errorf("failed to parse CSR: %w", err))
	}
	if slices.Contains(request.Subject.Organization, mastersGroup) {
		return forbidden(a, fmt.Errorf("use of %s signer with %s group is not allowed", subjectSigner, mastersGroup))
	}
	return nil
}

func parseRequest(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}
