package printers

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

func mutatingWebhookColumns() *Columns {
	return columns(func(c *admissionv1.MutatingWebhookConfiguration, now time.Time) []any {
		return []any{c.Name, len(c.Webhooks), ageOf(c, now)}
	}, name(), webhooks(), age())
}

func validatingWebhookColumns() *Columns {
	return columns(func(c *admissionv1.ValidatingWebhookConfiguration, now time.Time) []any {
		return []any{c.Name, len(c.Webhooks), ageOf(c, now)}
	}, name(), webhooks(), age())
}

func validatingPolicyColumns() *Columns {
	return columns(func(p *admissionv1.ValidatingAdmissionPolicy, now time.Time) []any {
		return []any{p.Name, len(p.Spec.Validations), paramKindOf(p.Spec.ParamKind), ageOf(p, now)}
	},
		name(), number("Validations", "Validations indicates the number of validation rules defined in this configuration"), paramKind(), age(),
	)
}

func mutatingPolicyColumns() *Columns {
	return columns(func(p *admissionv1.MutatingAdmissionPolicy, now time.Time) []any {
		return []any{p.Name, len(p.Spec.Mutations), paramKindOf(p.Spec.ParamKind), ageOf(p, now)}
	},
		name(), number("Mutations", "Mutation indicates the number of mutations rules defined in this configuration"), paramKind(), age(),
	)
}

func validatingBindingColumns() *Columns {
	return columns(func(b *admissionv1.ValidatingAdmissionPolicyBinding, now time.Time) []any {
		return []any{b.Name, b.Spec.PolicyName, paramRefOf(b.Spec.ParamRef), ageOf(b, now)}
	}, name(), policyName(), paramRef(), age())
}

func mutatingBindingColumns() *Columns {
	return columns(func(b *admissionv1.MutatingAdmissionPolicyBinding, now time.Time) []any {
		return []any{b.Name, b.Spec.PolicyName, paramRefOf(b.Spec.ParamRef), ageOf(b, now)}
	}, name(), policyName(), paramRef(), age())
}

func paramKindOf(k *admissionv1.ParamKind) string {
	if k == nil {
		return unset
	}
	return k.APIVersion + "/" + k.Kind
}

// paramRefOf writes * for a namespace that is not given: it may be the object's, or none.
func paramRefOf(r *admissionv1.ParamRef) string {
	switch {
	case r == nil:
	case r.Name != "":
		return or(r.Namespace, "*") + "/" + r.Name
	case r.Selector != nil:
		return r.Selector.String()
	}
	return unset
}
