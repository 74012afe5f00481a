package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	nodesGroup     = "system:nodes"
	nodeUserPrefix = "system:node:"
)

// parse reads the PEM of a request.
func parse(request []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(request)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// check holds a request to the rules of its signer. It tells whether the signer
// is one of ours.
func check(signer string, request *x509.CertificateRequest, usages []certificatesv1.KeyUsage) (ours bool, err error) {
	switch signer {
	case certificatesv1.KubeletServingSignerName:
		return true, checkServing(request, usages)
	case certificatesv1.KubeAPIServerClientKubeletSignerName:
		return true, checkKubelet(request, usages)
	case certificatesv1.KubeAPIServerClientSignerName:
		return true, checkUsages(usages, certificatesv1.UsageClientAuth)
	case "kubernetes.io/legacy-unknown":
		return true, nil
	}
	return false, nil
}

func checkServing(request *x509.CertificateRequest, usages []certificatesv1.KeyUsage) error {
	if err := checkNode(request); err != nil {
		return err
	}
	if len(request.DNSNames) == 0 && len(request.IPAddresses) == 0 {
		return errors.New("DNS or IP subjectAltName is required")
	}
	if err := checkNoNames(request, false); err != nil {
		return err
	}
	return checkUsages(usages, certificatesv1.UsageServerAuth)
}

func checkKubelet(request *x509.CertificateRequest, usages []certificatesv1.KeyUsage) error {
	if err := checkNode(request); err != nil {
		return err
	}
	if err := checkNoNames(request, true); err != nil {
		return err
	}
	return checkUsages(usages, certificatesv1.UsageClientAuth)
}

func checkNode(request *x509.CertificateRequest) error {
	if !slices.Equal(request.Subject.Organization, []string{nodesGroup}) {
		return fmt.Errorf("subject organization is not %s", nodesGroup)
	}
	if !strings.HasPrefix(request.Subject.CommonName, nodeUserPrefix) {
		return fmt.Errorf("subject common name does not begin with %s", nodeUserPrefix)
	}
	return nil
}

// checkNoNames refuses alternative names that the certificate must not have.
func checkNoNames(request *x509.CertificateRequest, hosts bool) error {
	switch {
	case hosts && len(request.DNSNames) > 0:
		return errors.New("DNS subjectAltNames are not allowed")
	case len(request.EmailAddresses) > 0:
		return errors.New("Email subjectAltNames are not allowed") //nolint:staticcheck // Kubernetes' words, which end up in a condition
	case hosts && len(request.IPAddresses) > 0:
		return errors.New("IP subjectAltNames are not allowed")
	case len(request.URIs) > 0:
		return errors.New("URI subjectAltNames are not allowed")
	}
	return nil
}

// checkUsages wants the one that the signer is for, and nothing else but those
// that go with any key.
func checkUsages(usages []certificatesv1.KeyUsage, required certificatesv1.KeyUsage) error {
	for _, usage := range usages {
		if usage != required && usage != certificatesv1.UsageDigitalSignature && usage != certificatesv1.UsageKeyEncipherment {
			return fmt.Errorf("usages did not match %v", []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, required})
		}
	}
	if !slices.Contains(usages, required) {
		return fmt.Errorf("usages did not include %q", required)
	}
	return nil
}

// has tells whether a condition of a request is True.
func has(csr *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType) bool {
	return slices.ContainsFunc(csr.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == kind && (c.Status == corev1.ConditionTrue || c.Status == "")
	})
}

// decided tells whether a request was approved or denied.
func decided(csr *certificatesv1.CertificateSigningRequest) bool {
	return has(csr, certificatesv1.CertificateApproved) || has(csr, certificatesv1.CertificateDenied)
}
