package authentication

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	clocktesting "k8s.io/utils/clock/testing"
)

// newIssuer serves the discovery document and the key of an issuer.
func newIssuer(t *testing.T) (*httptest.Server, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := NewTokens(key, clocktesting.NewFakeClock(start))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	answer := func(w http.ResponseWriter, v any) {
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": server.URL, "jwks_uri": server.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"keys": []JSONWebKey{tokens.PublicKey()}})
	})
	return server, key
}

func TestOIDC(t *testing.T) {
	server, key := newIssuer(t)
	_, foreign := newIssuer(t)
	ca := x509.NewCertPool()
	ca.AddCert(server.Certificate())
	issuer := &OIDC{IssuerURL: server.URL, ClientID: "kubesim", GroupsClaim: "groups", GroupsPrefix: "oidc:", CA: ca}
	if err := issuer.Validate(); err != nil {
		t.Fatal(err)
	}
	a := New(Config{OIDC: issuer, Clock: clocktesting.NewFakeClock(start)})
	good := jwt.MapClaims{"iss": server.URL, "aud": "kubesim", "sub": "jane", "exp": start.Unix() + 60, "groups": []string{"dev", "ops"}}
	with := func(claim string, value any) jwt.MapClaims {
		c := jwt.MapClaims{}
		for k, v := range good {
			c[k] = v
		}
		c[claim] = value
		return c
	}
	for _, test := range []struct {
		name   string
		claims jwt.MapClaims
		key    *ecdsa.PrivateKey
		good   bool
	}{
		{"as it should be", good, key, true},
		{"for another client", with("aud", "x"), key, false},
		{"expired", with("exp", start.Unix()-60), key, false},
		{"without a subject", with("sub", ""), key, false},
		{"of another issuer", with("iss", "https://example.com"), key, false},
		{"signed by another", good, foreign, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			token, err := jwt.NewWithClaims(jwt.SigningMethodES256, test.claims).SignedString(test.key)
			if err != nil {
				t.Fatal(err)
			}
			user, _, err := a.Token(t.Context(), token, nil)
			if !test.good {
				if !errors.Is(err, ErrUnauthorized) {
					t.Errorf("user %+v, error %v, want a refusal", user, err)
				}
				return
			}
			if err != nil || user.Username != server.URL+"#jane" || !slices.Equal(user.Groups, []string{"oidc:dev", "oidc:ops", "system:authenticated"}) {
				t.Errorf("user %+v, error %v", user, err)
			}
		})
	}
}

func TestOIDCFlags(t *testing.T) {
	for flag, o := range map[string]*OIDC{
		"--oidc-issuer-url": {IssuerURL: "http://example.com", ClientID: "x"},
		"--oidc-client-id":  {IssuerURL: "https://example.com"},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("error %v, want one that names %s", err, flag)
		}
	}
}
