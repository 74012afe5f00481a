package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
	corev1 "k8s.io/api/core/v1"
)

// issuer signs legacy tokens, which name a ServiceAccount and a Secret, and never
// expire.
type issuer struct {
	key    crypto.Signer
	method jwt.SigningMethod
}

// newIssuer signs with key, or one of its own.
func newIssuer(key crypto.Signer) (issuer, error) {
	if key == nil {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return issuer{}, fmt.Errorf("key of ServiceAccount tokens: %w", err)
		}
		key = own
	}
	switch public := key.Public().(type) {
	case *rsa.PublicKey:
		return issuer{key, jwt.SigningMethodRS256}, nil
	case *ecdsa.PublicKey:
		return issuer{key, jwt.SigningMethodES256}, nil
	default:
		return issuer{}, fmt.Errorf("key of ServiceAccount tokens: %T, want RSA or ECDSA", public)
	}
}

// claims are those of Kubernetes' legacy tokens.
type claims struct {
	jwt.RegisteredClaims

	Namespace  string `json:"kubernetes.io/serviceaccount/namespace"`
	Secret     string `json:"kubernetes.io/serviceaccount/secret.name"`
	Account    string `json:"kubernetes.io/serviceaccount/service-account.name"`
	AccountUID string `json:"kubernetes.io/serviceaccount/service-account.uid"`
}

func (i issuer) issue(secret *corev1.Secret, account *corev1.ServiceAccount) (string, error) {
	token, err := jwt.NewWithClaims(i.method, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: "kubernetes/serviceaccount", Subject: "system:serviceaccount:" + account.Namespace + ":" + account.Name,
		},
		Namespace: account.Namespace, Secret: secret.Name, Account: account.Name, AccountUID: string(account.UID),
	}).SignedString(i.key)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return token, nil
}
