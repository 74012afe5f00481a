package sandbox

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	tokencache "k8s.io/apiserver/pkg/authentication/token/cache"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	"k8s.io/apiserver/pkg/util/webhook"
	tokenwebhook "k8s.io/apiserver/plugin/pkg/authenticator/token/webhook"
	authorizationwebhook "k8s.io/apiserver/plugin/pkg/authorizer/webhook"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook/metrics"
)

// How long a webhook's answers count, as in kube-apiserver.
const (
	defaultAllowedTTL = 5 * time.Minute
	defaultRefusedTTL = 30 * time.Second
	defaultTokenTTL   = 2 * time.Minute
)

// webhookBackoff is between tries to reach a webhook.
func webhookBackoff() wait.Backoff {
	return webhook.DefaultRetryBackoffWithInitialDelay(500 * time.Millisecond)
}

// authorizationWebhook is the webhook that decides who may do what, nil for none.
func (c *Config) authorizationWebhook() (authorizer.Authorizer, error) {
	if c.AuthorizationWebhook == "" {
		return nil, nil
	}
	config, err := webhook.LoadKubeconfig(c.AuthorizationWebhook, nil)
	if err != nil {
		return nil, fmt.Errorf("--authorization-webhook-config-file: %w", err)
	}
	hook, err := authorizationwebhook.New(config, "v1", c.AuthorizationAllowedTTL, c.AuthorizationRefusedTTL, webhookBackoff(),
		authorizer.DecisionNoOpinion, nil, "", metrics.NoopAuthorizerMetrics{}, authorizationcel.NewDefaultCompiler())
	if err != nil {
		return nil, fmt.Errorf("--authorization-webhook-config-file: %w", err)
	}
	return hook, nil
}

// tokenWebhook is the webhook that knows bearer tokens, nil for none.
func (c *Config) tokenWebhook() (authenticator.Token, error) {
	if c.TokenWebhook == "" {
		return nil, nil
	}
	config, err := webhook.LoadKubeconfig(c.TokenWebhook, nil)
	if err != nil {
		return nil, fmt.Errorf("--authentication-token-webhook-config-file: %w", err)
	}
	hook, err := tokenwebhook.New(config, "v1", nil, webhookBackoff())
	if err != nil {
		return nil, fmt.Errorf("--authentication-token-webhook-config-file: %w", err)
	}
	return tokencache.New(hook, false, c.TokenWebhookTTL, c.TokenWebhookTTL), nil
}
