package authentication

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
)

// issuerTimeout bounds a request to the issuer, and issuerRetry how often an
// issuer that does not answer is asked.
const (
	issuerTimeout = 10 * time.Second
	issuerRetry   = 10 * time.Second
)

// OIDC believes the ID tokens of an OpenID Connect issuer.
type OIDC struct {
	IssuerURL, ClientID string
	// UsernameClaim is "sub" if empty; UsernamePrefix is IssuerURL# if empty and the
	// claim is not email, "-" for none.
	UsernameClaim, UsernamePrefix string
	// GroupsClaim names groups, none if empty.
	GroupsClaim, GroupsPrefix string
	CA                        *x509.CertPool // the system's if nil

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier
	asked    time.Time
	failure  error
}

// Validate checks what the flags say and fills in the defaults.
func (o *OIDC) Validate() error {
	u, err := url.Parse(o.IssuerURL)
	switch {
	case err != nil:
		return fmt.Errorf("--oidc-issuer-url: %w", err)
	case u.Scheme != "https":
		return fmt.Errorf("--oidc-issuer-url %q: must begin with https://", o.IssuerURL)
	case o.ClientID == "":
		return errors.New("--oidc-client-id: required with --oidc-issuer-url")
	}
	if o.UsernameClaim == "" {
		o.UsernameClaim = "sub"
	}
	switch {
	case o.UsernamePrefix == "-":
		o.UsernamePrefix = ""
	case o.UsernamePrefix == "" && o.UsernameClaim != "email":
		o.UsernamePrefix = o.IssuerURL + "#"
	}
	return nil
}

// signed tells, from its unchecked content, whether the token claims to be of this issuer.
func (o *OIDC) signed(token string) bool {
	var c jwt.RegisteredClaims
	_, _, err := jwt.NewParser().ParseUnverified(token, &c)
	return err == nil && c.Issuer == o.IssuerURL
}

// verify checks a token and reads the user from its claims.
func (o *OIDC) verify(ctx context.Context, token string, now func() time.Time) (authenticationv1.UserInfo, error) {
	refused := func(err error) (authenticationv1.UserInfo, error) {
		return authenticationv1.UserInfo{}, fmt.Errorf("%w: oidc: %w", ErrUnauthorized, err)
	}
	verifier, err := o.connect(now)
	if err != nil {
		return refused(err)
	}
	checked, err := verifier.Verify(ctx, token)
	if err != nil {
		return refused(err)
	}
	claims := map[string]any{}
	if err := checked.Claims(&claims); err != nil {
		return refused(err)
	}
	name, ok := claims[o.UsernameClaim].(string)
	if !ok || name == "" {
		return refused(fmt.Errorf("the token has no claim %q", o.UsernameClaim))
	}
	if o.UsernameClaim == "email" {
		if verified, ok := claims["email_verified"].(bool); ok && !verified {
			return refused(errors.New("email not verified"))
		}
	}
	user := authenticationv1.UserInfo{Username: o.UsernamePrefix + name}
	switch groups := claims[o.GroupsClaim].(type) {
	case string:
		user.Groups = []string{o.GroupsPrefix + groups}
	case []any:
		for _, group := range groups {
			if name, ok := group.(string); ok {
				user.Groups = append(user.Groups, o.GroupsPrefix+name)
			}
		}
	}
	return user, nil
}

// connect asks the issuer for its keys once somebody shows a token of its.
func (o *OIDC) connect(now func() time.Time) (*oidc.IDTokenVerifier, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.verifier != nil || o.failure != nil && now().Sub(o.asked) < issuerRetry {
		return o.verifier, o.failure
	}
	client := &http.Client{Timeout: issuerTimeout, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: o.CA, MinVersion: tls.VersionTLS12}, Proxy: http.ProxyFromEnvironment,
	}}
	provider, err := oidc.NewProvider(oidc.ClientContext(context.Background(), client), o.IssuerURL)
	o.asked, o.failure = now(), err
	if err == nil {
		o.verifier = provider.Verifier(&oidc.Config{ClientID: o.ClientID, Now: now})
	}
	return o.verifier, err
}
