package authentication

import (
	"context"
	"crypto/subtle"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const bootstrappers = "system:bootstrappers"

var (
	bootstrapToken = regexp.MustCompile(`^([a-z0-9]{6})\.([a-z0-9]{16})$`)
	bootstrapGroup = regexp.MustCompile(`^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$`)
)

// bootstrap believes a token ID.SECRET of the Secret kube-system/bootstrap-token-ID.
func (a *Authenticator) bootstrap(ctx context.Context, token string) (authenticationv1.UserInfo, error) {
	refused := func(why string) (authenticationv1.UserInfo, error) {
		return authenticationv1.UserInfo{}, fmt.Errorf("%w: %s", ErrUnauthorized, why)
	}
	parts := bootstrapToken.FindStringSubmatch(token)
	if parts == nil {
		return refused("a token of no known kind")
	}
	id := parts[1]
	obj, err := a.cfg.Objects.Get(ctx, corev1.SchemeGroupVersion.WithResource("secrets"), metav1.NamespaceSystem, "bootstrap-token-"+id)
	if err != nil {
		return refused(err.Error())
	}
	secret, ok := obj.(*corev1.Secret)
	if !ok || secret.DeletionTimestamp != nil || secret.Type != corev1.SecretTypeBootstrapToken {
		return refused("the Secret of the token is of another type or being deleted")
	}
	value := func(key string) string { return string(secret.Data[key]) }
	if value("token-id") != id || subtle.ConstantTimeCompare(secret.Data["token-secret"], []byte(parts[2])) != 1 {
		return refused("the token differs from its Secret")
	}
	if expires := value("expiration"); expires != "" {
		at, err := time.Parse(time.RFC3339, expires)
		if err != nil || !a.cfg.Clock.Now().Before(at) {
			return refused("the token has expired")
		}
	}
	if value("usage-bootstrap-authentication") != "true" {
		return refused("the token is not meant for authentication")
	}
	groups := []string{bootstrappers}
	for group := range strings.SplitSeq(value("auth-extra-groups"), ",") {
		group = strings.TrimSpace(group)
		if group == "" || slices.Contains(groups, group) {
			continue
		}
		if !bootstrapGroup.MatchString(group) {
			return refused("auth-extra-groups of the token are not all below " + bootstrappers)
		}
		groups = append(groups, group)
	}
	return authenticationv1.UserInfo{Username: "system:bootstrap:" + id, Groups: groups}, nil
}
