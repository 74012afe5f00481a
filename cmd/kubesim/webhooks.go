package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/kubesim/kubesim/sandbox"
)

// webhookFlags lead to webhooks that know users and what they may do.
type webhookFlags struct {
	authorization, token             string
	allowedTTL, refusedTTL, tokenTTL time.Duration
}

func (f *webhookFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.authorization, "authorization-webhook-config-file", "", "kubeconfig `file` that leads to the webhook of mode Webhook, which gets SubjectAccessReviews of v1")
	flags.DurationVar(&f.allowedTTL, "authorization-webhook-cache-authorized-ttl", 5*time.Minute, "how long its yes counts")
	flags.DurationVar(&f.refusedTTL, "authorization-webhook-cache-unauthorized-ttl", 30*time.Second, "how long its no counts")
	flags.StringVar(&f.token, "authentication-token-webhook-config-file", "", "kubeconfig `file` that leads to a webhook that knows bearer tokens, which gets TokenReviews of v1")
	flags.DurationVar(&f.tokenTTL, "authentication-token-webhook-cache-ttl", 2*time.Minute, "how long its answers count")
}

func (f *webhookFlags) apply(cfg *sandbox.Config) {
	cfg.AuthorizationWebhook, cfg.TokenWebhook = f.authorization, f.token
	cfg.AuthorizationAllowedTTL, cfg.AuthorizationRefusedTTL, cfg.TokenWebhookTTL = f.allowedTTL, f.refusedTTL, f.tokenTTL
}
