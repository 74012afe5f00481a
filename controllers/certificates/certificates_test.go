package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var now = time.Unix(1_800_000_000, 0)

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newRequest(t *testing.T, template x509.CertificateRequest) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &template, newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

func TestCheck(t *testing.T) {
	node := pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:n"}
	client := []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth}
	server := []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageServerAuth}
	for name, test := range map[string]struct {
		signer  string
		request x509.CertificateRequest
		usages  []certificatesv1.KeyUsage
		ours    bool
		err     string
	}{
		"user":                  {certificatesv1.KubeAPIServerClientSignerName, x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane"}}, client, true, ""},
		"user who serves":       {certificatesv1.KubeAPIServerClientSignerName, x509.CertificateRequest{}, server, true, "usages did not match [digital signature key encipherment client auth]"},
		"kubelet":               {certificatesv1.KubeAPIServerClientKubeletSignerName, x509.CertificateRequest{Subject: node}, client, true, ""},
		"kubelet with host":     {certificatesv1.KubeAPIServerClientKubeletSignerName, x509.CertificateRequest{Subject: node, DNSNames: []string{"n"}}, client, true, "DNS subjectAltNames are not allowed"},
		"kubelet in name alone": {certificatesv1.KubeAPIServerClientKubeletSignerName, x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:n"}}, client, true, "subject organization is not system:nodes"},
		"server":                {certificatesv1.KubeletServingSignerName, x509.CertificateRequest{Subject: node, DNSNames: []string{"n"}}, server, true, ""},
		"server without host":   {certificatesv1.KubeletServingSignerName, x509.CertificateRequest{Subject: node}, server, true, "DNS or IP subjectAltName is required"},
		"somebody else's":       {"example.com/mine", x509.CertificateRequest{}, client, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := parse(newRequest(t, test.request))
			if err != nil {
				t.Fatal(err)
			}
			ours, err := check(test.signer, request, test.usages)
			if ours != test.ours || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("ours %t, %v; want %t, %s", ours, err, test.ours, test.err)
			}
		})
	}
	if _, err := parse([]byte("no")); err == nil {
		t.Error("parsed what is no request")
	}
}

func TestSign(t *testing.T) {
	key := newKey(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(48 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	authority := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	request, err := parse(newRequest(t, x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane", Organization: []string{"dev"}}}))
	if err != nil {
		t.Fatal(err)
	}
	for seconds, want := range map[int32]time.Time{3600: now.Add(time.Hour), 7 * 86400: now.Add(48 * time.Hour)} {
		csr := &certificatesv1.CertificateSigningRequest{Spec: certificatesv1.CertificateSigningRequestSpec{
			ExpirationSeconds: ptr.To(seconds), Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
		}}
		signed, err := sign(request, csr, authority, now)
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(signed)
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if !certificate.NotAfter.Equal(want) || certificate.Subject.CommonName != "jane" || certificate.IsCA || certificate.ExtKeyUsage[0] != x509.ExtKeyUsageClientAuth {
			t.Errorf("for %d s: %v until %v", seconds, certificate.Subject, certificate.NotAfter)
		}
	}
}

func TestOver(t *testing.T) {
	csr := &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now)}}
	if got := over(csr); !got.Equal(now.Add(24 * time.Hour)) {
		t.Errorf("pending until %v", got)
	}
	csr.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateDenied, LastUpdateTime: metav1.NewTime(now.Add(time.Minute))}}
	if got := over(csr); !got.Equal(now.Add(61 * time.Minute)) {
		t.Errorf("denied until %v", got)
	}
}
