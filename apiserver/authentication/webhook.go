package authentication

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// askWebhook tells whose token it is, if the webhook knows.
func (a *Authenticator) askWebhook(ctx context.Context, token string) (authenticationv1.UserInfo, error) {
	response, ok, err := a.cfg.Webhook.AuthenticateToken(ctx, token)
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	if !ok {
		return authenticationv1.UserInfo{}, ErrUnauthorized
	}
	user := authenticationv1.UserInfo{Username: response.User.GetName(), UID: response.User.GetUID(), Groups: response.User.GetGroups()}
	for key, values := range response.User.GetExtra() {
		if user.Extra == nil {
			user.Extra = map[string]authenticationv1.ExtraValue{}
		}
		user.Extra[key] = values
	}
	return user, nil
}
