package authentication

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// credentialID is the key under which a user's extra values tell which of its
// credentials was shown.
const credentialID = "authentication.kubernetes.io/credential-id"

// certificate believes a chain that the authority has signed for clients.
func (a *Authenticator) certificate(chain []*x509.Certificate) (authenticationv1.UserInfo, error) {
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots: a.cfg.ClientCA, Intermediates: between, CurrentTime: a.cfg.Clock.Now(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return authenticationv1.UserInfo{}, fmt.Errorf("%w: %w", ErrUnauthorized, err)
	}
	subject := chain[0].Subject
	if subject.CommonName == "" {
		return authenticationv1.UserInfo{}, fmt.Errorf("%w: a certificate without a common name", ErrUnauthorized)
	}
	fingerprint := sha256.Sum256(chain[0].Raw)
	return authenticated(authenticationv1.UserInfo{
		Username: subject.CommonName, Groups: subject.Organization,
		Extra: map[string]authenticationv1.ExtraValue{credentialID: {"X509SHA256=" + hex.EncodeToString(fingerprint[:])}},
	}), nil
}
