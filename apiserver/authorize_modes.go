package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/kubesim/kubesim/apiserver/rbac"
)

// The authorization modes, as --authorization-mode has them.
const (
	ModeNode        = "Node"
	ModeRBAC        = "RBAC"
	ModeWebhook     = "Webhook"
	ModeAlwaysAllow = "AlwaysAllow"
	ModeAlwaysDeny  = "AlwaysDeny"
)

// DefaultModes are asked if none are named.
func DefaultModes() []string { return []string{ModeNode, ModeRBAC} }

// webhookTimeout bounds how long a decision waits for an authorization webhook.
const webhookTimeout = 30 * time.Second

// ValidateModes tells whether these modes can be asked, in this order.
func ValidateModes(modes []string, hasWebhook bool) error {
	known := []string{ModeNode, ModeRBAC, ModeWebhook, ModeAlwaysAllow, ModeAlwaysDeny}
	for i, mode := range modes {
		switch {
		case !slices.Contains(known, mode):
			return fmt.Errorf("%q is not a valid mode, valid are %s", mode, strings.Join(known, ", "))
		case slices.Contains(modes[:i], mode):
			return fmt.Errorf("%q is named twice", mode)
		}
	}
	switch wanted := slices.Contains(modes, ModeWebhook); {
	case wanted && !hasWebhook:
		return errors.New("Webhook needs --authorization-webhook-config-file")
	case !wanted && hasWebhook:
		return errors.New("--authorization-webhook-config-file is of no use without Webhook")
	}
	return nil
}

// allowsAll tells whether nobody is ever refused.
func (s *Server) allowsAll() bool { return slices.Contains(s.cfg.Authorization, ModeAlwaysAllow) }

// decide asks one authorizer after the other until one says yes or no. The reasons
// of those without an opinion are the reason of a refusal.
func (s *Server) decide(a *rbac.Attributes) rbac.Decision {
	if isMaster(a.User) {
		return rbac.Decision{Allowed: true}
	}
	var reasons []string
	for _, mode := range s.cfg.Authorization {
		d, isFinal := s.ask(mode, a)
		if d.Allowed || isFinal {
			return d
		}
		if d.Reason != "" {
			reasons = append(reasons, d.Reason)
		}
	}
	return rbac.Decision{Reason: strings.Join(reasons, "\n")}
}

// ask is what one authorizer says; isFinal if its no counts whatever others say.
func (s *Server) ask(mode string, a *rbac.Attributes) (d rbac.Decision, isFinal bool) {
	switch mode {
	case ModeNode:
		d.Allowed, d.Reason = s.nodeAllows(a)
	case ModeRBAC:
		d = s.authorizer.Authorize(a)
	case ModeWebhook:
		return s.askWebhook(a)
	case ModeAlwaysAllow:
		d.Allowed = true
	case ModeAlwaysDeny:
		d.Reason = "Everything is forbidden."
	}
	return d, false
}

// askWebhook hands the question to the webhook. One that can't be reached has no opinion.
func (s *Server) askWebhook(a *rbac.Attributes) (rbac.Decision, bool) {
	ctx, cancel := context.WithTimeout(s.ended, webhookTimeout)
	defer cancel()
	verdict, reason, err := s.cfg.AuthorizationWebhook.Authorize(ctx, recordOf(a))
	if err != nil {
		s.log.Warn("Asked the authorization webhook in vain", "err", err)
	}
	return rbac.Decision{Allowed: verdict == authorizer.DecisionAllow, Reason: reason}, verdict == authorizer.DecisionDeny
}
