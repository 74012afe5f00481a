package dynamic

import (
	"context"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubesim/kubesim/apiserver/admission"
)

// ValidatingWebhook lets webhooks refuse requests.
type ValidatingWebhook struct {
	hooks  hooks
	caller *Caller
}

// NewValidatingWebhook makes the plugin.
func NewValidatingWebhook(source Source, caller *Caller) *ValidatingWebhook {
	return &ValidatingWebhook{caller: caller, hooks: hooks{
		source: source, compiled: newCompiled(validatingHooks),
		resource: admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"),
	}}
}

// Name implements admission.Plugin.
func (*ValidatingWebhook) Name() string { return "ValidatingAdmissionWebhook" }

// Validate shows the request to all webhooks at once.
func (p *ValidatingWebhook) Validate(ctx context.Context, a *admission.Attributes) error {
	calls, err := p.hooks.matching(ctx, a)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	errs := make([]error, len(calls))
	var asking sync.WaitGroup
	for i, c := range calls {
		in, err := invoke(ctx, p.hooks.source, a, c.gvr)
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		asking.Go(func() { errs[i] = p.ask(ctx, c, in) })
	}
	asking.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *ValidatingWebhook) ask(ctx context.Context, c call, in *invocation) error {
	if wanted, err := c.wanted(ctx, in); err != nil || !wanted {
		return conditionError(err)
	}
	_, err := p.caller.ask(ctx, c.hook, in)
	if err != nil {
		return c.failed(in, err)
	}
	return nil
}
