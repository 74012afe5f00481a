package authentication

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/clock"
)

const (
	// Issuer is who signs, and the audience that the API server goes by.
	Issuer       = "https://kubernetes.default.svc.cluster.local"
	legacyIssuer = "kubernetes/serviceaccount"
	// deletionGrace is how long a token outlives the start of its object's deletion.
	deletionGrace = 60 * time.Second

	accountPrefix = "system:serviceaccount:"
	accountsGroup = "system:serviceaccounts"
)

// The extra values of a user that tell what a token is bound to.
const (
	extraPodName  = "authentication.kubernetes.io/pod-name"
	extraPodUID   = "authentication.kubernetes.io/pod-uid"
	extraNodeName = "authentication.kubernetes.io/node-name"
	extraNodeUID  = "authentication.kubernetes.io/node-uid"
)

// Tokens signs and checks the JWTs of ServiceAccounts.
type Tokens struct {
	key    crypto.Signer
	keyID  string
	method jwt.SigningMethod
	clock  clock.PassiveClock
}

// NewTokens uses key, which is an RSA key or one of the curve P-256.
func NewTokens(key crypto.Signer, clock clock.PassiveClock) (*Tokens, error) {
	t := &Tokens{key: key, clock: clock}
	switch public := key.Public().(type) {
	case *rsa.PublicKey:
		t.method = jwt.SigningMethodRS256
	case *ecdsa.PublicKey:
		if public.Curve.Params().BitSize != 256 {
			return nil, fmt.Errorf("key of ServiceAccount tokens: curve %s, want P-256", public.Curve.Params().Name)
		}
		t.method = jwt.SigningMethodES256
	default:
		return nil, fmt.Errorf("key of ServiceAccount tokens: %T, want RSA or ECDSA", public)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(der)
	t.keyID = base64.RawURLEncoding.EncodeToString(sum[:])
	return t, nil
}

// claims are what a token says, in its present and in its legacy form.
type claims struct {
	jwt.RegisteredClaims
	Bound *bound `json:"kubernetes.io,omitempty"`

	LegacyNamespace  string    `json:"kubernetes.io/serviceaccount/namespace,omitempty"`
	LegacySecret     string    `json:"kubernetes.io/serviceaccount/secret.name,omitempty"`
	LegacyAccount    string    `json:"kubernetes.io/serviceaccount/service-account.name,omitempty"`
	LegacyAccountUID types.UID `json:"kubernetes.io/serviceaccount/service-account.uid,omitempty"`
}

// bound names the account and the objects without which the token is void.
type bound struct {
	Namespace string `json:"namespace"`
	Account   ref    `json:"serviceaccount"`
	Pod       *ref   `json:"pod,omitempty"`
	Secret    *ref   `json:"secret,omitempty"`
	Node      *ref   `json:"node,omitempty"`
}

type ref struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid,omitempty"`
}

// Grant is what a token is to say.
type Grant struct {
	Account           *corev1.ServiceAccount
	Pod, Secret, Node metav1.Object // what it is bound to, if not nil
	Audiences         []string
	Life              time.Duration
}

// Issue signs a token.
func (t *Tokens) Issue(g Grant) (token string, expires time.Time, err error) {
	now := t.clock.Now()
	expires = now.Add(g.Life)
	c := claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: Issuer, Subject: accountPrefix + g.Account.Namespace + ":" + g.Account.Name, Audience: g.Audiences,
			IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
			ID: string(uuid.NewUUID()),
		},
		Bound: &bound{
			Namespace: g.Account.Namespace, Account: ref{g.Account.Name, g.Account.UID},
			Pod: refTo(g.Pod), Secret: refTo(g.Secret), Node: refTo(g.Node),
		},
	}
	unsigned := jwt.NewWithClaims(t.method, c)
	unsigned.Header["kid"] = t.keyID
	token, err = unsigned.SignedString(t.key)
	return token, expires, err
}

func refTo(obj metav1.Object) *ref {
	if obj == nil {
		return nil
	}
	return &ref{obj.GetName(), obj.GetUID()}
}

// own are those of the audiences that the API server goes by, which is one; it
// is meant too when there are none.
func (t *Tokens) own(audiences []string) []string {
	if len(audiences) == 0 || slices.Contains(audiences, Issuer) {
		return []string{Issuer}
	}
	return nil
}

// signed tells, from its unchecked content, whether the token claims to be ours.
func (t *Tokens) signed(token string) bool {
	var c claims
	if _, _, err := jwt.NewParser().ParseUnverified(token, &c); err != nil {
		return false
	}
	return c.Issuer == Issuer || c.Issuer == legacyIssuer
}

// verify checks a token and that all it is bound to still exists.
func (t *Tokens) verify(ctx context.Context, token string, audiences []string, objects Getter) (authenticationv1.UserInfo, []string, error) {
	var c claims
	_, err := jwt.NewParser(jwt.WithValidMethods([]string{t.method.Alg()}), jwt.WithTimeFunc(t.clock.Now)).
		ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return t.key.Public(), nil })
	if err != nil {
		return authenticationv1.UserInfo{}, nil, fmt.Errorf("%w: %w", ErrUnauthorized, err)
	}
	good := t.own(audiences)
	if c.Issuer == legacyIssuer {
		c.Bound = &bound{
			Namespace: c.LegacyNamespace, Account: ref{c.LegacyAccount, c.LegacyAccountUID}, Secret: &ref{Name: c.LegacySecret},
		}
	} else {
		good = common(c.Audience, audiences)
	}
	if c.Bound == nil || c.Subject != accountPrefix+c.Bound.Namespace+":"+c.Bound.Account.Name {
		return authenticationv1.UserInfo{}, nil, fmt.Errorf("%w: the token does not fit its subject %q", ErrUnauthorized, c.Subject)
	}
	if len(good) == 0 {
		return authenticationv1.UserInfo{}, nil, fmt.Errorf("%w: token audiences %q is invalid for the target audiences", ErrUnauthorized, c.Audience)
	}
	if err := t.exist(ctx, &c, objects); err != nil {
		return authenticationv1.UserInfo{}, nil, fmt.Errorf("%w: %w", ErrUnauthorized, err)
	}
	return c.user(), good, nil
}

// common are the audiences that a token is good for, of those asked for.
func common(has, want []string) []string {
	if len(want) == 0 {
		want = []string{Issuer}
	}
	var out []string
	for _, audience := range want {
		if slices.Contains(has, audience) {
			out = append(out, audience)
		}
	}
	return out
}

// exist makes sure of the account and of what the token is bound to.
func (t *Tokens) exist(ctx context.Context, c *claims, objects Getter) error {
	if err := t.exists(ctx, objects, "serviceaccounts", c.Bound.Namespace, &c.Bound.Account); err != nil {
		return err
	}
	if err := t.exists(ctx, objects, "pods", c.Bound.Namespace, c.Bound.Pod); err != nil {
		return err
	}
	if c.Bound.Pod == nil { // the node is of importance only for itself
		if err := t.exists(ctx, objects, "nodes", "", c.Bound.Node); err != nil {
			return err
		}
	}
	return t.exists(ctx, objects, "secrets", c.Bound.Namespace, c.Bound.Secret)
}

var errInvalidated = errors.New("service account token has been invalidated")

func (t *Tokens) exists(ctx context.Context, objects Getter, resource, namespace string, want *ref) error {
	if want == nil {
		return nil
	}
	obj, err := objects.Get(ctx, corev1.SchemeGroupVersion.WithResource(resource), namespace, want.Name)
	if err != nil {
		return err
	}
	m, ok := obj.(metav1.Object)
	if !ok || want.UID != "" && m.GetUID() != want.UID {
		return errInvalidated
	}
	if deleted := m.GetDeletionTimestamp(); deleted != nil && t.clock.Now().After(deleted.Add(deletionGrace)) {
		return errInvalidated
	}
	return nil
}

// user is whom the token speaks for.
func (c *claims) user() authenticationv1.UserInfo {
	user := AccountUser(c.Bound.Namespace, c.Bound.Account.Name)
	user.UID = string(c.Bound.Account.UID)
	extra := map[string]authenticationv1.ExtraValue{}
	for key, value := range map[string]string{
		extraPodName: c.Bound.Pod.name(), extraPodUID: c.Bound.Pod.uid(),
		extraNodeName: c.Bound.Node.name(), extraNodeUID: c.Bound.Node.uid(),
	} {
		if value != "" {
			extra[key] = authenticationv1.ExtraValue{value}
		}
	}
	if c.ID != "" {
		extra[credentialID] = authenticationv1.ExtraValue{"JTI=" + c.ID}
	}
	if len(extra) > 0 {
		user.Extra = extra
	}
	return user
}

func (r *ref) name() string {
	if r == nil {
		return ""
	}
	return r.Name
}

func (r *ref) uid() string {
	if r == nil {
		return ""
	}
	return string(r.UID)
}

// AccountUser is the user that a ServiceAccount is.
func AccountUser(namespace, name string) authenticationv1.UserInfo {
	return authenticationv1.UserInfo{
		Username: accountPrefix + namespace + ":" + name,
		Groups:   []string{accountsGroup, accountsGroup + ":" + namespace},
	}
}

// SplitAccount takes the name of an AccountUser apart.
func SplitAccount(username string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(username, accountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok && namespace != "" && name != "" && !strings.Contains(name, ":")
}
