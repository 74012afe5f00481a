package authentication

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// objects is a Getter of RESOURCE/NAMESPACE/NAME.
type objects map[string]runtime.Object

func (o objects) Get(_ context.Context, gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error) {
	if obj, ok := o[gvr.Resource+"/"+namespace+"/"+name]; ok {
		return obj, nil
	}
	return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
}

func account() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot", UID: "account-uid"}}
}

func pod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "pod-uid"}}
}

func newTokens(t *testing.T, clock *clocktesting.FakeClock) *Tokens {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := NewTokens(key, clock)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestServiceAccountToken(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	tokens := newTokens(t, clock)
	token, expires, err := tokens.Issue(Grant{Account: account(), Pod: pod(), Audiences: []string{Issuer, "vault"}, Life: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if !expires.Equal(start.Add(time.Hour)) {
		t.Errorf("expires %v", expires)
	}
	deleted := pod()
	deleted.DeletionTimestamp = &metav1.Time{Time: start}
	other := account()
	other.UID = "another"
	there := objects{"serviceaccounts/default/robot": account(), "pods/default/p": pod()}
	for _, test := range []struct {
		name      string
		objects   objects
		later     time.Duration
		audiences []string
		good      []string // nil: refused
	}{
		{name: "for the API server", objects: there, good: []string{Issuer}},
		{name: "for another audience", objects: there, audiences: []string{"vault", "x"}, good: []string{"vault"}},
		{name: "for an audience it is not for", objects: there, audiences: []string{"x"}},
		{name: "expired", objects: there, later: time.Hour + time.Second},
		{name: "before its time", objects: there, later: -time.Minute},
		{name: "of an account that is gone", objects: objects{"pods/default/p": pod()}},
		{name: "of an account made anew", objects: objects{"serviceaccounts/default/robot": other, "pods/default/p": pod()}},
		{name: "of a pod that is gone", objects: objects{"serviceaccounts/default/robot": account()}},
		{name: "of a pod that just ends", objects: objects{"serviceaccounts/default/robot": account(), "pods/default/p": deleted}, later: 59 * time.Second, good: []string{Issuer}},
		{name: "of a pod that ends for long", objects: objects{"serviceaccounts/default/robot": account(), "pods/default/p": deleted}, later: 61 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			clock.SetTime(start.Add(test.later))
			a := New(Config{Tokens: tokens, Objects: test.objects, Clock: clock})
			user, good, err := a.Token(t.Context(), token, test.audiences)
			if test.good == nil {
				if !errors.Is(err, ErrUnauthorized) {
					t.Fatalf("user %v, error %v, want a refusal", user, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(good, test.good) {
				t.Errorf("audiences %q, want %q", good, test.good)
			}
			want := []string{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}
			if user.Username != "system:serviceaccount:default:robot" || user.UID != "account-uid" || !reflect.DeepEqual(user.Groups, want) {
				t.Errorf("user %+v", user)
			}
			if got := user.Extra[extraPodName]; len(got) != 1 || got[0] != "p" {
				t.Errorf("extra %v", user.Extra)
			}
		})
	}
}

// TestForgedTokens changes what a token says or how it is signed.
func TestForgedTokens(t *testing.T) {
	clock := clocktesting.NewFakeClock(start)
	tokens := newTokens(t, clock)
	there := objects{"serviceaccounts/default/robot": account(), "serviceaccounts/kube-system/admin": &corev1.ServiceAccount{}}
	a := New(Config{Tokens: tokens, Objects: there, Bootstrap: true, Clock: clock})
	token, _, err := tokens.Issue(Grant{Account: account(), Audiences: []string{Issuer}, Life: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Token(t.Context(), token, nil); err != nil {
		t.Fatalf("the token itself: %v", err)
	}
	parts := strings.Split(token, ".")
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	promoted := base64.RawURLEncoding.EncodeToString([]byte(strings.ReplaceAll(string(body), "default", "kube-system")))
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{"iss": Issuer, "sub": "system:serviceaccount:default:robot"}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	foreign, _, err := newTokens(t, clock).Issue(Grant{Account: account(), Audiences: []string{Issuer}, Life: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for name, forged := range map[string]string{
		"another body":      parts[0] + "." + promoted + "." + parts[2],
		"no signature":      parts[0] + "." + parts[1] + ".",
		"algorithm none":    none,
		"another key":       foreign,
		"cut off":           token[:len(token)-10],
		"empty":             "",
		"garbage":           "xyz",
		"dots":              "..",
		"a bootstrap token": "abcdef.0123456789abcdef",
	} {
		if user, _, err := a.Token(t.Context(), forged, nil); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("%s: user %q, error %v, want a refusal", name, user.Username, err)
		}
	}
}

func TestBootstrapToken(t *testing.T) {
	secret := func(change func(map[string]string)) objects {
		data := map[string]string{
			"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
			"auth-extra-groups": "system:bootstrappers:workers", "expiration": start.Add(time.Hour).Format(time.RFC3339),
		}
		change(data)
		s := &corev1.Secret{Type: corev1.SecretTypeBootstrapToken, Data: map[string][]byte{}}
		for key, value := range data {
			s.Data[key] = []byte(value)
		}
		return objects{"secrets/kube-system/bootstrap-token-abcdef": s}
	}
	for _, test := range []struct {
		name   string
		change func(map[string]string)
		good   bool
	}{
		{"as it should be", func(map[string]string) {}, true},
		{"another secret", func(d map[string]string) { d["token-secret"] = "ffffffffffffffff" }, false},
		{"expired", func(d map[string]string) { d["expiration"] = start.Format(time.RFC3339) }, false},
		{"for signing only", func(d map[string]string) { delete(d, "usage-bootstrap-authentication") }, false},
		{"a group of others", func(d map[string]string) { d["auth-extra-groups"] = "system:masters" }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := New(Config{Bootstrap: true, Objects: secret(test.change), Clock: clocktesting.NewFakeClock(start)})
			user, _, err := a.Token(t.Context(), "abcdef.0123456789abcdef", nil)
			if (err == nil) != test.good {
				t.Fatalf("user %+v, error %v", user, err)
			}
			want := []string{"system:bootstrappers", "system:bootstrappers:workers", "system:authenticated"}
			if test.good && (user.Username != "system:bootstrap:abcdef" || !reflect.DeepEqual(user.Groups, want)) {
				t.Errorf("user %+v", user)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users.csv")
	if err := os.WriteFile(path, []byte("secret,jane,7,\"dev,ops\"\n# nobody\nother,joe,8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	local := Config{TokenFile: file, PasswordFile: file, Clock: clocktesting.NewFakeClock(start)}
	required := local
	required.Required = true
	closed := required
	closed.NoAnonymous = true
	for _, test := range []struct {
		name, header, user string // no user: refused
		cfg                Config
		tls                bool
	}{
		{name: "nothing", cfg: local, user: LocalUser},
		{name: "nothing by TLS", cfg: local, tls: true, user: AnonymousUser},
		{name: "nothing where credentials are required", cfg: required, user: AnonymousUser},
		{name: "nothing where nobody is anonymous", cfg: closed},
		{name: "a token", cfg: local, header: "Bearer secret", user: "jane"},
		{name: "a token in small letters", cfg: local, header: "bearer other", user: "joe"},
		{name: "a wrong token", cfg: local, header: "Bearer sekret"},
		{name: "an empty token", cfg: local, header: "Bearer ", user: AnonymousUser},
		{name: "a password", cfg: local, header: "Basic " + base64.StdEncoding.EncodeToString([]byte("jane:secret")), user: "jane"},
		{name: "another's password", cfg: local, header: "Basic " + base64.StdEncoding.EncodeToString([]byte("joe:secret"))},
		{name: "a scheme that is unknown", cfg: local, header: "Negotiate abc", user: AnonymousUser},
		{name: "a scheme that is unknown where nobody is anonymous", cfg: closed, header: "Negotiate abc"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/api", nil)
			if test.header != "" {
				r.Header.Set("Authorization", test.header)
			}
			if test.tls {
				r.TLS = &tls.ConnectionState{}
			}
			id, err := New(test.cfg).Authenticate(r)
			user := id.User
			if (err != nil) != (test.user == "") || user.Username != test.user {
				t.Errorf("user %q, error %v, want %q", user.Username, err, test.user)
			}
		})
	}
}

func TestInProcessUser(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/api", nil)
	r = r.WithContext(WithUser(r.Context(), authenticationv1.UserInfo{Username: "system:kube-scheduler"}))
	id, err := New(Config{}).Authenticate(r)
	user := id.User
	if err != nil || user.Username != "system:kube-scheduler" || !reflect.DeepEqual(user.Groups, []string{Authenticated}) {
		t.Errorf("user %+v, error %v", user, err)
	}
}

func TestForeignCertificate(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/api", nil)
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Raw: []byte("x")}}}
	id, err := New(Config{ClientCA: x509.NewCertPool(), Clock: clocktesting.NewFakeClock(start)}).Authenticate(r)
	if !errors.Is(err, ErrUnauthorized) {
		t.Errorf("user %q, error %v, want a refusal", id.User.Username, err)
	}
}

func TestFileErrorsNameTheLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users.csv")
	if err := os.WriteFile(path, []byte("secret,jane,7\nincomplete,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v, want one that names line 2", err)
	}
}
