package defaults

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ValidatingWebhookConfiguration fills its webhooks.
func ValidatingWebhookConfiguration(configuration *admissionv1.ValidatingWebhookConfiguration) {
	for i := range configuration.Webhooks {
		hook := &configuration.Webhooks[i]
		setNil(&hook.FailurePolicy, admissionv1.Fail)
		setNil(&hook.MatchPolicy, admissionv1.Equivalent)
		setNil(&hook.NamespaceSelector, metav1.LabelSelector{})
		setNil(&hook.ObjectSelector, metav1.LabelSelector{})
		setNil(&hook.TimeoutSeconds, 10)
		webhookTarget(&hook.ClientConfig, hook.Rules)
	}
}

// MutatingWebhookConfiguration fills its webhooks.
func MutatingWebhookConfiguration(configuration *admissionv1.MutatingWebhookConfiguration) {
	for i := range configuration.Webhooks {
		hook := &configuration.Webhooks[i]
		setNil(&hook.FailurePolicy, admissionv1.Fail)
		setNil(&hook.MatchPolicy, admissionv1.Equivalent)
		setNil(&hook.NamespaceSelector, metav1.LabelSelector{})
		setNil(&hook.ObjectSelector, metav1.LabelSelector{})
		setNil(&hook.TimeoutSeconds, 10)
		setNil(&hook.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
		webhookTarget(&hook.ClientConfig, hook.Rules)
	}
}

func webhookTarget(client *admissionv1.WebhookClientConfig, rules []admissionv1.RuleWithOperations) {
	if client.Service != nil {
		setNil(&client.Service.Port, 443)
	}
	for i := range rules {
		setNil(&rules[i].Scope, admissionv1.AllScopes)
	}
}

// ValidatingAdmissionPolicy fills what the policy matches and how it fails.
func ValidatingAdmissionPolicy(policy *admissionv1.ValidatingAdmissionPolicy) {
	setNil(&policy.Spec.FailurePolicy, admissionv1.Fail)
	matchResources(policy.Spec.MatchConstraints)
}

// ValidatingAdmissionPolicyBinding fills what the binding matches.
func ValidatingAdmissionPolicyBinding(binding *admissionv1.ValidatingAdmissionPolicyBinding) {
	matchResources(binding.Spec.MatchResources)
}

// MutatingAdmissionPolicy fills what the policy matches and how it fails.
func MutatingAdmissionPolicy(policy *admissionv1.MutatingAdmissionPolicy) {
	setNil(&policy.Spec.FailurePolicy, admissionv1.Fail)
	matchResources(policy.Spec.MatchConstraints)
}

// MutatingAdmissionPolicyBinding fills what the binding matches.
func MutatingAdmissionPolicyBinding(binding *admissionv1.MutatingAdmissionPolicyBinding) {
	matchResources(binding.Spec.MatchResources)
}

func matchResources(match *admissionv1.MatchResources) {
	if match == nil {
		return
	}
	setNil(&match.MatchPolicy, admissionv1.Equivalent)
	setNil(&match.NamespaceSelector, metav1.LabelSelector{})
	setNil(&match.ObjectSelector, metav1.LabelSelector{})
	for _, rules := range [][]admissionv1.NamedRuleWithOperations{match.ResourceRules, match.ExcludeResourceRules} {
		for i := range rules {
			setNil(&rules[i].Scope, admissionv1.AllScopes)
		}
	}
}
