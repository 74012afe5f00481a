package authentication

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/utils/clock"
)

// The groups and users that Kubernetes knows by name.
const (
	Masters         = "system:masters"
	Authenticated   = "system:authenticated"
	Unauthenticated = "system:unauthenticated"
	AnonymousUser   = "system:anonymous"
	// LocalUser sends what comes without credentials from this machine.
	LocalUser = "kubesim:local"
)

// ErrUnauthorized is why a credential is refused, as far as the client is told.
var ErrUnauthorized = errors.New("unauthorized")

// Getter reads the objects that tokens are bound to. It answers NotFound as a StatusError.
type Getter interface {
	Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (runtime.Object, error)
}

// Config says whom to believe. The zero value believes nobody, and takes what
// comes over plain HTTP for the local user's.
type Config struct {
	// ClientCA signs client certificates.
	ClientCA *x509.CertPool
	// Tokens are those of ServiceAccounts.
	Tokens *Tokens
	// Bootstrap takes the tokens of Secrets in kube-system.
	Bootstrap bool
	// OIDC takes the ID tokens of an issuer; nil for none.
	OIDC *OIDC
	// Webhook is asked about tokens that nobody else knows; nil for none.
	Webhook authenticator.Token
	// TokenFile and PasswordFile hold static credentials.
	TokenFile, PasswordFile *File
	// Required asks for credentials over plain HTTP too; without it whoever comes
	// that way without any is the local user.
	Required bool
	// NoAnonymous refuses who has no credentials.
	NoAnonymous bool

	Objects Getter
	Clock   clock.PassiveClock
}

// Authenticator tells who sends a request.
type Authenticator struct{ cfg Config }

// New makes an Authenticator.
func New(cfg Config) *Authenticator { return &Authenticator{cfg: cfg} }

// Identity is who sends a request, and by what that is known.
type Identity struct {
	User authenticationv1.UserInfo
	By   string
}

// Authenticate tells who sends r. An error means that a credential is wrong, or
// that one is needed.
func (a *Authenticator) Authenticate(r *http.Request) (Identity, error) {
	if user, ok := inProcess(r.Context()); ok {
		return Identity{user, "being part of this process"}, nil
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 && a.cfg.ClientCA != nil {
		user, err := a.certificate(r.TLS.PeerCertificates)
		return Identity{user, "client certificate"}, err
	}
	header := r.Header.Get("Authorization")
	switch scheme, credential, _ := strings.Cut(header, " "); {
	case strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(credential) != "":
		user, _, err := a.Token(r.Context(), strings.TrimSpace(credential), nil)
		return Identity{user, "bearer token"}, err
	case strings.EqualFold(scheme, "Basic") && a.cfg.PasswordFile != nil:
		user, err := a.basic(r)
		return Identity{user, "password"}, err
	}
	switch {
	// Who tries to prove who he is, in a way that is not known here, is not local.
	case !a.cfg.Required && r.TLS == nil && header == "":
		return Identity{authenticated(authenticationv1.UserInfo{Username: LocalUser, Groups: []string{Masters}}), "plain HTTP from this machine"}, nil
	case a.cfg.NoAnonymous:
		return Identity{}, ErrUnauthorized
	}
	return Identity{authenticationv1.UserInfo{Username: AnonymousUser, Groups: []string{Unauthenticated}}, "no credentials"}, nil
}

// Token tells whose bearer token it is, and for which of the audiences it is
// good; no audiences are those of the API server.
func (a *Authenticator) Token(ctx context.Context, token string, audiences []string) (authenticationv1.UserInfo, []string, error) {
	if token == "" {
		return authenticationv1.UserInfo{}, nil, ErrUnauthorized
	}
	if user, ok := a.cfg.TokenFile.find(token); ok {
		return authenticated(user), a.own(audiences), nil
	}
	if a.cfg.Tokens != nil && a.cfg.Tokens.signed(token) {
		user, good, err := a.cfg.Tokens.verify(ctx, token, audiences, a.cfg.Objects)
		return authenticated(user), good, err
	}
	if a.cfg.OIDC != nil && a.cfg.OIDC.signed(token) {
		user, err := a.cfg.OIDC.verify(ctx, token, a.cfg.Clock.Now)
		return authenticated(user), a.own(audiences), err
	}
	if a.cfg.Bootstrap {
		user, err := a.bootstrap(ctx, token)
		if err == nil || a.cfg.Webhook == nil {
			return authenticated(user), a.own(audiences), err
		}
	}
	if a.cfg.Webhook != nil {
		user, err := a.askWebhook(ctx, token)
		return authenticated(user), a.own(audiences), err
	}
	return authenticationv1.UserInfo{}, nil, ErrUnauthorized
}

// own are those of the audiences that the API server goes by; a token that knows
// no audience is good for these.
func (a *Authenticator) own(audiences []string) []string {
	if a.cfg.Tokens == nil {
		return audiences
	}
	return a.cfg.Tokens.own(audiences)
}

// authenticated adds the group of all who have proved who they are.
func authenticated(user authenticationv1.UserInfo) authenticationv1.UserInfo {
	if user.Username != "" && user.Username != AnonymousUser && !slices.Contains(user.Groups, Authenticated) {
		user.Groups = append(slices.Clip(user.Groups), Authenticated)
	}
	return user
}

type inProcessKey struct{}

// WithUser makes the context of requests that a part of this process sends as user.
func WithUser(ctx context.Context, user authenticationv1.UserInfo) context.Context {
	return context.WithValue(ctx, inProcessKey{}, authenticated(user))
}

func inProcess(ctx context.Context) (authenticationv1.UserInfo, bool) {
	user, ok := ctx.Value(inProcessKey{}).(authenticationv1.UserInfo)
	return user, ok
}
