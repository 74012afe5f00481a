package dynamic

import (
	"context"
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/apiserver/admission"
)

// MutatingWebhook lets webhooks change objects.
type MutatingWebhook struct {
	hooks  hooks
	caller *Caller
}

// NewMutatingWebhook makes the plugin.
func NewMutatingWebhook(source Source, caller *Caller) *MutatingWebhook {
	return &MutatingWebhook{caller: caller, hooks: hooks{
		source: source, compiled: newCompiled(mutatingHooks),
		resource: admissionregistrationv1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations"),
	}}
}

// Name implements admission.Plugin.
func (*MutatingWebhook) Name() string { return "MutatingAdmissionWebhook" }

// left is the object as a webhook has left it, for the second round: it is asked
// again only if others have changed the object since.
type left map[*hook]runtime.Object

// Admit shows the request to one webhook after the other.
func (p *MutatingWebhook) Admit(ctx context.Context, a *admission.Attributes) error {
	calls, err := p.hooks.matching(ctx, a)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	before, _ := a.State(p.Name()).(left)
	if before == nil {
		before = left{}
		a.SetState(p.Name(), before)
	}
	for _, c := range calls {
		if was, seen := before[c.hook]; a.Again() && (!c.again || seen && equality.Semantic.DeepEqual(was, a.Object)) {
			continue
		}
		changed, err := p.ask(ctx, c, a)
		if err != nil {
			return err
		}
		if changed {
			a.AskAgain()
		}
		if a.Object != nil {
			before[c.hook] = a.Object.DeepCopyObject()
		}
	}
	return nil
}

// ask shows the request to one webhook and takes over what it changes.
func (p *MutatingWebhook) ask(ctx context.Context, c call, a *admission.Attributes) (changed bool, err error) {
	in, err := invoke(ctx, p.hooks.source, a, c.gvr)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if wanted, err := c.wanted(ctx, in); err != nil || !wanted {
		return false, conditionError(err)
	}
	response, err := p.caller.ask(ctx, c.hook, in)
	if err != nil {
		return false, c.failed(in, err)
	}
	if len(response.Patch) == 0 {
		return false, nil
	}
	patched, err := in.patched(response)
	if err != nil {
		return false, c.failed(in, &failure{c.name, err})
	}
	if equality.Semantic.DeepEqual(a.Object, patched) {
		return false, nil
	}
	return true, a.Replace(c.name, patched)
}

// patched is the object with the patch of a webhook, as it was requested.
func (in *invocation) patched(response *admissionv1.AdmissionResponse) (runtime.Object, error) {
	if response.PatchType == nil || *response.PatchType != admissionv1.PatchTypeJSONPatch {
		return nil, fmt.Errorf("webhook returned response.patch but not response.patchType")
	}
	if in.object == nil {
		return nil, fmt.Errorf("a patch for a request without an object")
	}
	patch, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(in.object)
	if err != nil {
		return nil, err
	}
	if body, err = patch.Apply(body); err != nil {
		return nil, err
	}
	obj, err := in.source.Decode(body, in.gvk)
	if err != nil {
		return nil, err
	}
	if obj, err = in.source.Convert(obj, in.asRequested); err != nil {
		return nil, err
	}
	in.source.Default(obj, in.GVR)
	return obj, nil
}

// conditionError is what a match condition that can't be evaluated leads to.
func conditionError(err error) error {
	if err == nil {
		return nil
	}
	return apierrors.NewForbidden(admissionregistrationv1.Resource(""), "", err)
}
