package certificates

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	certificateslisters "k8s.io/client-go/listers/certificates/v1"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/runner"
)

const (
	// lifetime is that of certificates whose request names none.
	lifetime = 365 * 24 * time.Hour
	// backdate makes up for clocks that are behind.
	backdate = 5 * time.Minute
)

// Signer signs approved requests.
type Signer struct {
	client    kubernetes.Interface
	clock     clock.PassiveClock
	logger    *slog.Logger
	requests  certificateslisters.CertificateSigningRequestLister
	authority *tls.Certificate
}

// NewSigning connects the controller to its informers.
func NewSigning(env runner.Env) (runner.Controller, error) {
	s := &Signer{client: env.Client, clock: env.Clock, logger: env.Logger, requests: env.Informers.Certificates().V1().CertificateSigningRequests().Lister(), authority: env.Authority}
	return controller(env, "certificatesigningrequest-signing-controller", s.Reconcile), nil
}

func controller(env runner.Env, name string, reconcile func(context.Context, runner.Key) (time.Duration, error)) runner.Controller {
	resource := certificatesv1.Resource("certificatesigningrequests")
	return runner.Controller{
		Name: name, Resource: resource, Reconcile: reconcile,
		Watches: []runner.Watch{{Resource: resource, Informer: env.Informers.Certificates().V1().CertificateSigningRequests().Informer(), Keys: runner.Self}},
	}
}

// Reconcile signs one request if it is approved, or tells why it can't be.
func (s *Signer) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	csr, err := s.requests.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	signable := has(csr, certificatesv1.CertificateApproved) && !has(csr, certificatesv1.CertificateDenied) && !has(csr, certificatesv1.CertificateFailed)
	if !signable || len(csr.Status.Certificate) > 0 || s.authority == nil {
		return 0, nil
	}
	request, err := parse(csr.Spec.Request)
	if err != nil {
		return 0, fmt.Errorf("unable to parse csr %q: %w", csr.Name, err)
	}
	ours, invalid := check(csr.Spec.SignerName, request, csr.Spec.Usages)
	if !ours {
		return 0, nil
	}
	changed := csr.DeepCopy()
	if invalid != nil {
		runner.Decide(ctx, "refuse: %v", invalid)
		now := metav1.NewTime(s.clock.Now()).Rfc3339Copy()
		changed.Status.Conditions = append(changed.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateFailed, Status: corev1.ConditionTrue, Reason: "SignerValidationFailure", Message: invalid.Error(), LastUpdateTime: now,
		})
	} else {
		runner.Decide(ctx, "sign")
		if changed.Status.Certificate, err = sign(request, csr, s.authority, s.clock.Now()); err != nil {
			return 0, fmt.Errorf("error auto signing csr: %w", err)
		}
	}
	_, err = s.client.CertificatesV1().CertificateSigningRequests().UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err == nil && invalid == nil {
		s.logger.Info("Signed certificate", "certificatesigningrequest", csr.Name)
	}
	return 0, err
}

// sign issues the certificate, as PEM.
func sign(request *x509.CertificateRequest, csr *certificatesv1.CertificateSigningRequest, authority *tls.Certificate, now time.Time) ([]byte, error) {
	parent, err := x509.ParseCertificate(authority.Certificate[0])
	if err != nil {
		return nil, fmt.Errorf("the authority's certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, fmt.Errorf("serial number: %w", err)
	}
	ends := now.Add(lifetime)
	if seconds := csr.Spec.ExpirationSeconds; seconds != nil {
		ends = now.Add(min(time.Duration(*seconds)*time.Second, lifetime))
	}
	if ends.After(parent.NotAfter) {
		ends = parent.NotAfter
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: request.Subject, BasicConstraintsValid: true,
		DNSNames: request.DNSNames, IPAddresses: request.IPAddresses, EmailAddresses: request.EmailAddresses, URIs: request.URIs,
		NotBefore: now.Add(-backdate), NotAfter: ends,
	}
	for _, usage := range csr.Spec.Usages {
		template.KeyUsage |= keyUsages()[usage]
		if extended, found := extendedUsages()[usage]; found {
			template.ExtKeyUsage = append(template.ExtKeyUsage, extended)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, request.PublicKey, authority.PrivateKey)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

func keyUsages() map[certificatesv1.KeyUsage]x509.KeyUsage {
	return map[certificatesv1.KeyUsage]x509.KeyUsage{
		certificatesv1.UsageSigning: x509.KeyUsageDigitalSignature, certificatesv1.UsageDigitalSignature: x509.KeyUsageDigitalSignature,
		certificatesv1.UsageContentCommitment: x509.KeyUsageContentCommitment, certificatesv1.UsageKeyEncipherment: x509.KeyUsageKeyEncipherment,
		certificatesv1.UsageKeyAgreement: x509.KeyUsageKeyAgreement, certificatesv1.UsageDataEncipherment: x509.KeyUsageDataEncipherment,
		certificatesv1.UsageCertSign: x509.KeyUsageCertSign, certificatesv1.UsageCRLSign: x509.KeyUsageCRLSign,
		certificatesv1.UsageEncipherOnly: x509.KeyUsageEncipherOnly, certificatesv1.UsageDecipherOnly: x509.KeyUsageDecipherOnly,
	}
}

func extendedUsages() map[certificatesv1.KeyUsage]x509.ExtKeyUsage {
	return map[certificatesv1.KeyUsage]x509.ExtKeyUsage{
		certificatesv1.UsageAny: x509.ExtKeyUsageAny, certificatesv1.UsageServerAuth: x509.ExtKeyUsageServerAuth,
		certificatesv1.UsageClientAuth: x509.ExtKeyUsageClientAuth, certificatesv1.UsageCodeSigning: x509.ExtKeyUsageCodeSigning,
		certificatesv1.UsageEmailProtection: x509.ExtKeyUsageEmailProtection, certificatesv1.UsageSMIME: x509.ExtKeyUsageEmailProtection,
		certificatesv1.UsageIPsecEndSystem: x509.ExtKeyUsageIPSECEndSystem, certificatesv1.UsageIPsecTunnel: x509.ExtKeyUsageIPSECTunnel,
		certificatesv1.UsageIPsecUser: x509.ExtKeyUsageIPSECUser, certificatesv1.UsageTimestamping: x509.ExtKeyUsageTimeStamping,
		certificatesv1.UsageOCSPSigning: x509.ExtKeyUsageOCSPSigning, certificatesv1.UsageMicrosoftSGC: x509.ExtKeyUsageMicrosoftServerGatedCrypto,
		certificatesv1.UsageNetscapeSGC: x509.ExtKeyUsageNetscapeServerGatedCrypto,
	}
}
