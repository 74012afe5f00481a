package dynamic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	celplugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/kubesim/kubesim/apiserver/admission"
)

// ValidatingPolicy refuses what a policy's expressions find false.
type ValidatingPolicy struct {
	source   Source
	policies *compiled[*validatingPolicy]
	bindings *compiled[*policyBinding]
}

// NewValidatingPolicy makes the plugin.
func NewValidatingPolicy(source Source) *ValidatingPolicy {
	return &ValidatingPolicy{source: source, policies: newCompiled(compileValidating), bindings: newCompiled(compileValidatingBinding)}
}

// Name implements admission.Plugin.
func (*ValidatingPolicy) Name() string { return "ValidatingAdmissionPolicy" }

// validatingPolicy is a policy with its expressions compiled.
type validatingPolicy struct {
	*admissionregistrationv1.ValidatingAdmissionPolicy
	criteria   *criteria
	compiler   *celplugin.CompositedCompiler
	conditions matchconditions.Matcher
	// checks and messages have an element for each validation.
	checks, messages, annotations celplugin.ConditionEvaluator
}

func compileValidating(obj runtime.Object) (*validatingPolicy, error) {
	p, ok := obj.(*admissionregistrationv1.ValidatingAdmissionPolicy)
	if !ok {
		return nil, fmt.Errorf("a policy is a %T", obj)
	}
	criteria, err := newPolicyCriteria(p.Spec.MatchConstraints)
	if err != nil {
		return nil, err
	}
	declared := celplugin.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil, HasAuthorizer: true}
	compiler, err := newCompiler(p.Spec.Variables, declared)
	if err != nil {
		return nil, err
	}
	out := &validatingPolicy{ValidatingAdmissionPolicy: p, criteria: criteria, compiler: compiler}
	out.conditions = newConditions(compiler, p.Spec.MatchConditions, declared, p.Spec.FailurePolicy, "validate", p.Name)
	var checks, messages, annotations []celplugin.ExpressionAccessor
	for _, v := range p.Spec.Validations {
		checks = append(checks, &expression{text: v.Expression, types: boolean})
		var message celplugin.ExpressionAccessor
		if v.MessageExpression != "" {
			message = &expression{text: v.MessageExpression, types: text}
		}
		messages = append(messages, message)
	}
	for _, a := range p.Spec.AuditAnnotations {
		annotations = append(annotations, &expression{name: a.Key, text: a.ValueExpression, types: textOrNull})
	}
	withoutAuthorizer := celplugin.OptionalVariableDeclarations{HasParams: declared.HasParams}
	out.checks = compiler.CompileCondition(checks, declared, environment.StoredExpressions)
	out.messages = compiler.CompileCondition(messages, withoutAuthorizer, environment.StoredExpressions)
	out.annotations = compiler.CompileCondition(annotations, declared, environment.StoredExpressions)
	return out, nil
}

func compileValidatingBinding(obj runtime.Object) (*policyBinding, error) {
	b, ok := obj.(*admissionregistrationv1.ValidatingAdmissionPolicyBinding)
	if !ok {
		return nil, fmt.Errorf("a policy's binding is a %T", obj)
	}
	criteria, err := newPolicyCriteria(b.Spec.MatchResources)
	return &policyBinding{name: b.Name, policy: b.Spec.PolicyName, criteria: criteria, params: b.Spec.ParamRef, actions: b.Spec.ValidationActions}, err
}

// decision is a validation that is not met, or that could not be evaluated.
type decision struct {
	index   int // of the validation
	message string
	reason  metav1.StatusReason
	deny    bool // whatever the binding's actions are
}

// Validate evaluates all policies that have a binding for the request.
func (p *ValidatingPolicy) Validate(ctx context.Context, a *admission.Attributes) error {
	if exempt(a) {
		return nil
	}
	policies, bindings, err := p.current()
	if err != nil || len(policies) == 0 {
		return err
	}
	var denied error
	for _, policy := range policies {
		gvr, ok, err := policy.criteria.match(ctx, p.source, a, true)
		if err != nil {
			denied = first(denied, policy.misconfigured(a, nil, fmt.Errorf("failed to configure policy: %w", err)))
			continue
		}
		if !ok {
			continue
		}
		in, err := invoke(ctx, p.source, a, gvr)
		if err != nil {
			return err
		}
		for _, binding := range bindings {
			if binding.policy == policy.Name {
				denied = first(denied, p.bound(ctx, policy, binding, in))
			}
		}
	}
	return denied
}

func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// current are the policies and bindings that there are now, in order of their names.
func (p *ValidatingPolicy) current() ([]*validatingPolicy, []*policyBinding, error) {
	return currentPolicies(p.source, p.policies, p.bindings, "validatingadmissionpolicies", "validatingadmissionpolicybindings")
}

func currentPolicies[T any](source Source, policies *compiled[T], bindings *compiled[*policyBinding], policyResource, bindingResource string) ([]T, []*policyBinding, error) {
	objects, err := source.Cached(admissionregistrationv1.SchemeGroupVersion.WithResource(bindingResource), "")
	if err != nil || len(objects) == 0 {
		return nil, nil, err
	}
	bound, err := bindings.of(byName(objects))
	if err != nil {
		return nil, nil, err
	}
	if objects, err = source.Cached(admissionregistrationv1.SchemeGroupVersion.WithResource(policyResource), ""); err != nil {
		return nil, nil, err
	}
	compiled, err := policies.of(byName(objects))
	return compiled, bound, err
}

// bound evaluates a policy for one of its bindings.
func (p *ValidatingPolicy) bound(ctx context.Context, policy *validatingPolicy, b *policyBinding, in *invocation) error {
	ok, err := b.matches(ctx, p.source, in.Attributes)
	if err == nil && !ok {
		return nil
	}
	var params []runtime.Object
	if err == nil {
		params, err = parameters(ctx, p.source, policy.Spec.ParamKind, b.params, in.Namespace)
	}
	if err != nil {
		return policy.misconfigured(in.Attributes, b, fmt.Errorf("failed to configure binding: %w", err))
	}
	var denied error
	for _, param := range params {
		for _, d := range policy.evaluate(ctx, in, param) {
			denied = first(denied, policy.act(in.Attributes, b, d))
		}
	}
	return denied
}

// act does what a binding wants done about a decision.
func (p *validatingPolicy) act(a *admission.Attributes, b *policyBinding, d decision) error {
	var denied error
	for _, action := range b.actions {
		switch {
		case action == admissionregistrationv1.Deny:
			denied = p.denied(a, b, d)
		case action == admissionregistrationv1.Warn && !d.deny:
			a.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", p.Name, b.name, d.message))
		case action == admissionregistrationv1.Audit && !d.deny:
			a.Annotate("validation.policy.admission.k8s.io/validation_failure", failureAnnotation(p.Name, b, d))
		}
	}
	if d.deny && denied == nil {
		denied = p.denied(a, b, d)
	}
	return denied
}

// failureAnnotation tells the audit log of a validation that is not met.
func failureAnnotation(policy string, b *policyBinding, d decision) string {
	value, err := json.Marshal([]map[string]any{{
		"message": d.message, "policy": policy, "binding": b.name, "expressionIndex": d.index, "validationActions": b.actions,
	}})
	if err != nil {
		return err.Error()
	}
	return string(value)
}

func (p *validatingPolicy) denied(a *admission.Attributes, b *policyBinding, d decision) error {
	message := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", p.Name, b.name, d.message)
	reason := d.reason
	if reason == "" {
		reason = metav1.StatusReasonInvalid
	}
	return denial(a, message, reason, codeOf(reason))
}

func codeOf(reason metav1.StatusReason) int32 {
	switch reason {
	case metav1.StatusReasonForbidden:
		return http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusUnprocessableEntity
}

// misconfigured is what an error outside the expressions leads to.
func (p *validatingPolicy) misconfigured(a *admission.Attributes, b *policyBinding, err error) error {
	if p.ignores() {
		return nil
	}
	with := ""
	if b != nil {
		with = fmt.Sprintf(" with binding '%s'", b.name)
	}
	return denial(a, fmt.Sprintf("ValidatingAdmissionPolicy '%s'%s denied request: %v", p.Name, with, err), metav1.StatusReasonInvalid, http.StatusUnprocessableEntity)
}

func (p *validatingPolicy) ignores() bool {
	return p.Spec.FailurePolicy != nil && *p.Spec.FailurePolicy == admissionregistrationv1.Ignore
}

// evaluate finds the validations that are not met.
func (p *validatingPolicy) evaluate(ctx context.Context, in *invocation, param runtime.Object) []decision {
	failed := func(err error) []decision {
		if p.ignores() {
			return nil
		}
		return []decision{{message: err.Error()}}
	}
	attributes := in.attributes()
	with := celplugin.OptionalVariableBindings{VersionedParams: param, Authorizer: in.source.Authorizer()}
	if p.conditions != nil {
		result := p.conditions.Match(p.compiler.CreateContext(ctx), attributes, param, with.Authorizer)
		if result.Error != nil {
			return failed(result.Error)
		}
		if !result.Matches {
			return nil
		}
	}
	request := celplugin.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(in.gvr), metav1.GroupVersionKind(in.gvk))
	namespace := celplugin.CreateNamespaceObject(in.namespaceObj)
	results, budget, err := p.checks.ForInput(ctx, attributes, request, with, namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return failed(err)
	}
	messages, _, messageErr := p.messages.ForInput(ctx, attributes, request, celplugin.OptionalVariableBindings{VersionedParams: param}, namespace, budget)
	var out []decision
	for i, result := range results {
		validation := &p.Spec.Validations[i]
		switch {
		case result.Error != nil:
			if !p.ignores() {
				out = append(out, decision{index: i, message: result.Error.Error()})
			}
		case result.EvalResult != celtypes.True:
			d := decision{index: i, message: messageOf(validation, messages, messageErr, i)}
			if validation.Reason != nil {
				d.reason = *validation.Reason
			}
			out = append(out, d)
		}
	}
	return append(out, p.annotate(ctx, in, with)...)
}

// messageOf is what a validation says when it is not met: its expression's text,
// its fixed one, or the condition itself.
func messageOf(v *admissionregistrationv1.Validation, messages []celplugin.EvaluationResult, err error, i int) string {
	if err == nil && i < len(messages) && messages[i].Error == nil && messages[i].EvalResult != nil {
		if said, ok := messages[i].EvalResult.Value().(string); ok {
			said = strings.TrimSpace(said)
			if said != "" && len(said) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(said, "\n") {
				return said
			}
		}
	}
	if v.Message != "" {
		return strings.TrimSpace(v.Message)
	}
	return "failed expression: " + strings.TrimSpace(v.Expression)
}

// annotate evaluates what the policy wants in the audit log.
func (p *validatingPolicy) annotate(ctx context.Context, in *invocation, with celplugin.OptionalVariableBindings) []decision {
	if len(p.Spec.AuditAnnotations) == 0 {
		return nil
	}
	attributes := in.attributes()
	request := celplugin.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(in.gvr), metav1.GroupVersionKind(in.gvk))
	results, _, err := p.annotations.ForInput(ctx, attributes, request, with, celplugin.CreateNamespaceObject(in.namespaceObj), celconfig.RuntimeCELCostBudget)
	errs := []error{err}
	for i, result := range results {
		errs = append(errs, result.Error)
		if result.Error != nil || result.EvalResult == nil {
			continue
		}
		if value, ok := result.EvalResult.Value().(string); ok && strings.TrimSpace(value) != "" {
			in.Annotate(p.Name+"/"+p.Spec.AuditAnnotations[i].Key, strings.TrimSpace(value))
		}
	}
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 || p.ignores() {
		return nil
	}
	return []decision{{message: errors.Join(errs...).Error(), deny: true}}
}
