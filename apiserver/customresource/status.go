package customresource

import (
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/util/webhook"

	"github.com/kubesim/kubesim/apiserver/strategy"
)

// Advance takes a definition's status a step further and tells whether there was
// one to take: names are accepted first, then the definition is established.
func Advance(crd *apiextensionsv1.CustomResourceDefinition, taken Taken, now metav1.Time) bool {
	set := func(c apiextensionsv1.CustomResourceDefinitionCondition) {
		strategy.SetDefinitionCondition(crd, now, c)
	}
	if c := approval(crd); c != nil && !same(c, condition(crd, c.Type)) {
		set(*c)
		return true
	}
	if !equality.Semantic.DeepEqual(crd.Spec.Names, crd.Status.AcceptedNames) { // else not even the condition is looked at
		names, c := accept(crd, taken)
		if !equality.Semantic.DeepEqual(names, crd.Status.AcceptedNames) || !same(&c, condition(crd, c.Type)) {
			crd.Status.AcceptedNames = names
			established := installing(crd, c.Status)
			set(c)
			set(established)
			return true
		}
	}
	if Is(crd, apiextensionsv1.NamesAccepted) && !Is(crd, apiextensionsv1.Established) {
		if c := establish(crd); !same(&c, condition(crd, c.Type)) {
			set(c)
			return true
		}
	}
	return false
}

// same tells whether a condition is there as it should be.
func same(want, have *apiextensionsv1.CustomResourceDefinitionCondition) bool {
	return have != nil && want.Status == have.Status && want.Reason == have.Reason && want.Message == have.Message
}

// installing is the condition Established as the names leave it: what is
// established stays so.
func installing(crd *apiextensionsv1.CustomResourceDefinition, accepted apiextensionsv1.ConditionStatus) apiextensionsv1.CustomResourceDefinitionCondition {
	c := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Reason: "NotAccepted", Message: "not all names are accepted",
	}
	if old := condition(crd, apiextensionsv1.Established); old != nil {
		c = *old
	}
	if c.Status != apiextensionsv1.ConditionTrue && accepted == apiextensionsv1.ConditionTrue {
		c.Status, c.Reason, c.Message = apiextensionsv1.ConditionFalse, "Installing", "the initial names have been accepted"
	}
	return c
}

// establish is the condition Established of a definition whose names are accepted.
func establish(crd *apiextensionsv1.CustomResourceDefinition) apiextensionsv1.CustomResourceDefinitionCondition {
	if c := crd.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil &&
		len(webhook.ValidateCABundle(field.NewPath(""), c.Webhook.ClientConfig.CABundle)) > 0 {
		return apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse,
			Reason: "InvalidCABundle", Message: "The conversion webhook CABundle is invalid",
		}
	}
	return apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
		Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
	}
}

// approval says whether a definition in one of Kubernetes' own groups was approved;
// nil for all others.
func approval(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinitionCondition {
	if !apihelpers.IsProtectedCommunityGroup(crd.Spec.Group) {
		return nil
	}
	state, message := apihelpers.GetAPIApprovalState(crd.Annotations)
	c := &apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse, Message: message,
	}
	switch state {
	case apihelpers.APIApproved:
		c.Status, c.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		c.Reason = "MissingAnnotation"
	case apihelpers.APIApprovalBypassed:
		c.Reason = "UnapprovedAnnotation"
	default:
		c.Reason = "InvalidAnnotation"
	}
	return c
}
