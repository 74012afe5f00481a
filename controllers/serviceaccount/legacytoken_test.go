package serviceaccount

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestIssue(t *testing.T) {
	issuer, err := newIssuer(nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := issuer.issue(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "t"}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "robot", UID: "u"}})
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%d parts, want 3", len(parts))
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		t.Fatalf("signature of %d bytes: %v", len(signature), err)
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(issuer.key.Public().(*ecdsa.PublicKey), digest[:], r, s) {
		t.Error("the signature is not the key's")
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var got claims
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	want := claims{jwt.RegisteredClaims{Issuer: "kubernetes/serviceaccount", Subject: "system:serviceaccount:ns:robot"}, "ns", "t", "robot", "u"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("claims %+v, want %+v", got, want)
	}
}
