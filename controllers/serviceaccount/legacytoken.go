package serviceaccount

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// issuer signs legacy tokens: JWTs (RFC 7519, ES256) that name a
// ServiceAccount and a Secret, and never expire.
type issuer struct{ key *ecdsa.PrivateKey }

func newIssuer() (issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return issuer{}, fmt.Errorf("key of ServiceAccount tokens: %w", err)
	}
	return issuer{key: key}, nil
}

// claims are those of Kubernetes' legacy tokens.
type claims struct {
	Issuer     string `json:"iss"`
	Namespace  string `json:"kubernetes.io/serviceaccount/namespace"`
	Secret     string `json:"kubernetes.io/serviceaccount/secret.name"`
	Account    string `json:"kubernetes.io/serviceaccount/service-account.name"`
	AccountUID string `json:"kubernetes.io/serviceaccount/service-account.uid"`
	Subject    string `json:"sub"`
}

func (i issuer) issue(secret *corev1.Secret, account *corev1.ServiceAccount) (string, error) {
	body, err := json.Marshal(claims{
		Issuer: "kubernetes/serviceaccount", Namespace: account.Namespace, Secret: secret.Name,
		Account: account.Name, AccountUID: string(account.UID),
		Subject: "system:serviceaccount:" + account.Namespace + ":" + account.Name,
	})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + encode(body)
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, digest[:])
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	// RFC 7518, 3.4: both numbers in as many bytes as the curve's order has.
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + encode(signature), nil
}
