package authentication

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"math/big"
)

// JSONWebKey is the public half of the key that signs tokens (RFC 7517).
type JSONWebKey struct {
	Use       string `json:"use"`
	Type      string `json:"kty"`
	ID        string `json:"kid"`
	Curve     string `json:"crv,omitempty"`
	Algorithm string `json:"alg"`
	X         string `json:"x,omitempty"`
	Y         string `json:"y,omitempty"`
	Modulus   string `json:"n,omitempty"`
	Exponent  string `json:"e,omitempty"`
}

// PublicKey tells others what to check the tokens with.
func (t *Tokens) PublicKey() JSONWebKey {
	encode := base64.RawURLEncoding.EncodeToString
	key := JSONWebKey{Use: "sig", ID: t.keyID, Algorithm: t.method.Alg()}
	switch public := t.key.Public().(type) {
	case *rsa.PublicKey:
		key.Type, key.Modulus, key.Exponent = "RSA", encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		if point, err := public.Bytes(); err == nil { // 4, X, Y
			half := (len(point) - 1) / 2
			key.Type, key.Curve, key.X, key.Y = "EC", "P-256", encode(point[1:1+half]), encode(point[1+half:])
		}
	}
	return key
}
