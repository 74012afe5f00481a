package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxAuditAnnotations = 20
	maxAuditExpression  = 5 << 10
)

var (
	celIdentifier = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
	celReserved   = sets.New("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function",
		"if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while")
)

// ValidatingAdmissionPolicy holds the rules of admissionregistration.k8s.io/v1
// ValidatingAdmissionPolicies.
func ValidatingAdmissionPolicy(v, old *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
	s, p := &v.Spec, field.NewPath("spec")
	errs := append(plainMeta(&v.ObjectMeta, metaOf(old)),
		policyHead(s.FailurePolicy, s.ParamKind, s.MatchConstraints, p)...)
	errs = append(errs, matchConditions(s.MatchConditions, policyVariables, p.Child("matchConditions"))...)
	errs = append(errs, each(s.Variables, p.Child("variables"), policyVariable)...)
	if len(s.Validations)+len(s.AuditAnnotations) == 0 {
		const none = "validations or auditAnnotations must contain at least one item"
		return append(errs, field.Required(p.Child("validations"), none), field.Required(p.Child("auditAnnotations"), none))
	}
	at, keys := p.Child("auditAnnotations"), sets.New[string]()
	return concat(errs, each(s.Validations, p.Child("validations"), policyValidation),
		refuse(len(s.AuditAnnotations) > maxAuditAnnotations,
			field.Invalid(at, byFieldName(s.AuditAnnotations), fmt.Sprintf("must not have more than %d auditAnnotations", maxAuditAnnotations))),
		each(s.AuditAnnotations, at, func(a *admissionv1.AuditAnnotation, p *field.Path) field.ErrorList {
			errs := append(auditAnnotation(v.Name, a, p), refuse(keys.Has(a.Key), field.Duplicate(p.Child("key"), a.Key))...)
			keys.Insert(a.Key)
			return errs
		}))
}

// policyHead holds the rules that validating and mutating policies share.
func policyHead(failure *admissionv1.FailurePolicyType, kind *admissionv1.ParamKind, m *admissionv1.MatchResources, p *field.Path) field.ErrorList {
	errs := refuse(failure == nil, field.Required(p.Child("failurePolicy"), ""))
	errs = append(errs, concat(when(failure, p.Child("failurePolicy"), failurePolicy), when(kind, p.Child("paramKind"), paramKind))...)
	at := p.Child("matchConstraints")
	if m == nil {
		return append(errs, field.Required(at, ""))
	}
	return concat(errs, matchResources(m, at), refuse(len(m.ResourceRules) == 0, field.Required(at.Child("resourceRules"), "")))
}

func paramKind(k *admissionv1.ParamKind, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := p.Child("apiVersion")
	switch strings.Count(k.APIVersion, "/") {
	case 0, 1:
		group, version, ok := strings.Cut(k.APIVersion, "/")
		if !ok {
			group, version = "", k.APIVersion
		}
		if k.APIVersion == "" {
			errs = append(errs, field.Required(at, ""))
			break
		}
		if messages := validation.IsDNS1123Subdomain(group); group != "" && len(messages) > 0 {
			errs = append(errs, field.Invalid(at, group, strings.Join(messages, ",")))
		}
		if version == "" {
			errs = append(errs, field.Invalid(at, k.APIVersion, "version must be specified"))
		} else if messages := validation.IsDNS1035Label(version); len(messages) > 0 {
			errs = append(errs, field.Invalid(at, version, strings.Join(messages, ",")))
		}
	default:
		errs = append(errs, field.Invalid(at, k.APIVersion, "unexpected GroupVersion string: "+k.APIVersion))
	}
	if k.Kind == "" {
		return append(errs, field.Required(p.Child("kind"), ""))
	}
	messages := validation.IsDNS1035Label(strings.ToLower(k.Kind))
	return append(errs, refuse(len(messages) > 0, field.Invalid(p.Child("kind"), k.Kind,
		"may have mixed case, but should otherwise match: "+strings.Join(messages, ",")))...)
}

func matchResources(m *admissionv1.MatchResources, p *field.Path) field.ErrorList {
	selector := func(s *metav1.LabelSelector, p *field.Path) field.ErrorList {
		if s == nil {
			return field.ErrorList{field.Required(p, "")}
		}
		return labelSelector(s, p)
	}
	return concat(
		refuse(m.MatchPolicy == nil, field.Required(p.Child("matchPolicy"), "")),
		when(m.MatchPolicy, p.Child("matchPolicy"), matchPolicy),
		selector(m.NamespaceSelector, p.Child("namespaceSelector")),
		selector(m.ObjectSelector, p.Child("objectSelector")),
		each(m.ResourceRules, p.Child("resourceRules"), namedRule),
		each(m.ExcludeResourceRules, p.Child("excludeResourceRules"), namedRule))
}

func namedRule(r *admissionv1.NamedRuleWithOperations, p *field.Path) field.ErrorList {
	names := sets.New[string]()
	return append(each(r.ResourceNames, p.Child("resourceNames"), func(name *string, p *field.Path) field.ErrorList {
		errs := append(named(*name, p, path.ValidatePathSegmentName), refuse(names.Has(*name), field.Duplicate(p, *name))...)
		names.Insert(*name)
		return errs
	}), operationRule(&r.RuleWithOperations, p)...)
}

func policyVariable(v *admissionv1.Variable, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if strings.TrimSpace(v.Name) == "" {
		errs = append(errs, field.Required(p.Child("name"), "name is not specified"))
	} else if !celIdentifier.MatchString(v.Name) || celReserved.Has(v.Name) {
		errs = append(errs, field.Invalid(p.Child("name"), v.Name, "name is not a valid CEL identifier"))
	}
	if strings.TrimSpace(v.Expression) == "" {
		return append(errs, field.Required(p.Child("expression"), "expression is not specified"))
	}
	return append(errs, celExpression(v.Expression, policyVariables, p.Child("expression"))...)
}

func policyValidation(v *admissionv1.Validation, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if strings.TrimSpace(v.Expression) == "" {
		errs = append(errs, field.Required(p.Child("expression"), "expression is not specified"))
	} else {
		errs = append(errs, celExpression(v.Expression, policyVariables, p.Child("expression"))...)
	}
	if at := p.Child("messageExpression"); strings.TrimSpace(v.MessageExpression) != "" {
		withoutAuthorizer := slices.DeleteFunc(slices.Clone(policyVariables), func(name string) bool { return name == "authorizer" })
		errs = append(errs, celExpression(v.MessageExpression, withoutAuthorizer, at)...)
	} else {
		errs = append(errs, refuse(v.MessageExpression != "", field.Invalid(at, v.MessageExpression, "must be non-empty if specified"))...)
	}
	message := strings.TrimSpace(v.Message)
	return concat(errs,
		refuse(v.Message != "" && message == "", field.Invalid(p.Child("message"), v.Message, "message must be non-empty if specified")),
		refuse(strings.ContainsAny(message, "\n\r"), field.Invalid(p.Child("message"), v.Message, "message must not contain line breaks")),
		when(v.Reason, p.Child("reason"), func(r *metav1.StatusReason, p *field.Path) field.ErrorList {
			return supported(*r, p, metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge, metav1.StatusReasonUnauthorized)
		}))
}

func auditAnnotation(policy string, a *admissionv1.AuditAnnotation, p *field.Path) field.ErrorList {
	errs := refuse(policy == "", field.Invalid(p.Child("key"), a.Key, "requires metadata.name be non-empty"))
	if policy != "" {
		errs = qualifiedName(policy+"/"+a.Key, p.Child("key"))
	}
	at, text := p.Child("valueExpression"), strings.TrimSpace(a.ValueExpression)
	switch {
	case text == "":
		return append(errs, field.Required(at, "valueExpression is not specified"))
	case len(text) > maxAuditExpression:
		return append(errs, field.Required(at, fmt.Sprintf("must not exceed %d bytes in length", maxAuditExpression)))
	}
	return append(errs, celExpression(a.ValueExpression, policyVariables, at)...)
}

// ValidatingAdmissionPolicyStatus holds the rules of a write to
// validatingadmissionpolicies/status.
func ValidatingAdmissionPolicyStatus(v, _ *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
	p := field.NewPath("status")
	var errs field.ErrorList
	if c := v.Status.TypeChecking; c != nil {
		errs = each(c.ExpressionWarnings, p.Child("typeChecking", "expressionWarnings"), func(w *admissionv1.ExpressionWarning, p *field.Path) field.ErrorList {
			return append(required(w.Warning, p.Child("warning")), required(strings.TrimSpace(w.FieldRef), p.Child("fieldRef"))...)
		})
	}
	return append(errs, metav1validation.ValidateConditions(v.Status.Conditions, p.Child("conditions"))...)
}

// MutatingAdmissionPolicy holds the rules of admissionregistration.k8s.io/v1
// MutatingAdmissionPolicies.
func MutatingAdmissionPolicy(m, old *admissionv1.MutatingAdmissionPolicy) field.ErrorList {
	s, p := &m.Spec, field.NewPath("spec")
	errs := append(plainMeta(&m.ObjectMeta, metaOf(old)), policyHead(s.FailurePolicy, s.ParamKind, s.MatchConstraints, p)...)
	if s.MatchConstraints != nil {
		at := p.Child("matchConstraints", "resourceRules", "operations") // there is nothing to mutate in a deletion
		for _, r := range s.MatchConstraints.ResourceRules {
			for _, o := range r.Operations {
				errs = append(errs, supported(o, at, admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Update)...)
			}
		}
	}
	return concat(errs, matchConditions(s.MatchConditions, policyVariables, p.Child("matchConditions")),
		each(s.Variables, p.Child("variables"), policyVariable),
		refuse(len(s.Mutations) == 0, field.Required(p.Child("mutations"), "mutations must contain at least one item")),
		each(s.Mutations, p.Child("mutations"), mutation),
		oneOf(s.ReinvocationPolicy, p.Child("reinvocationPolicy"), admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy))
}

func mutation(m *admissionv1.Mutation, p *field.Path) field.ErrorList {
	var expression string
	apply, patch := p.Child("applyConfiguration"), p.Child("jsonPatch")
	at := apply
	switch m.PatchType {
	case admissionv1.PatchTypeApplyConfiguration:
		if m.ApplyConfiguration == nil {
			return field.ErrorList{field.Required(apply, "must be specified when patchType is ApplyConfiguration")}
		}
		expression = m.ApplyConfiguration.Expression
	case admissionv1.PatchTypeJSONPatch:
		if m.JSONPatch == nil {
			return field.ErrorList{field.Required(patch, "must be specified when patchType is JSONPatch")}
		}
		expression, at = m.JSONPatch.Expression, patch
	default:
		return oneOf(m.PatchType, p.Child("patchType"), admissionv1.PatchTypeApplyConfiguration, admissionv1.PatchTypeJSONPatch)
	}
	if strings.TrimSpace(expression) == "" {
		return field.ErrorList{field.Required(at.Child("expression"), "expression is not specified")}
	}
	return celExpression(expression, policyVariables, at.Child("expression"))
}

// ValidatingAdmissionPolicyBinding holds the rules of
// admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBindings.
func ValidatingAdmissionPolicyBinding(b, old *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	s, p := &b.Spec, field.NewPath("spec")
	errs := append(plainMeta(&b.ObjectMeta, metaOf(old)), boundPolicy(s.PolicyName, s.ParamRef, s.MatchResources, p)...)
	at, seen := p.Child("validationActions"), sets.New[admissionv1.ValidationAction]()
	errs = append(errs, each(s.ValidationActions, at, func(a *admissionv1.ValidationAction, p *field.Path) field.ErrorList {
		errs := append(supported(*a, p, admissionv1.Audit, admissionv1.Deny, admissionv1.Warn), refuse(seen.Has(*a), field.Duplicate(p, *a))...)
		seen.Insert(*a)
		return errs
	})...)
	return concat(errs, refuse(seen.HasAll(admissionv1.Deny, admissionv1.Warn), field.Invalid(at, s.ValidationActions,
		"must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)")),
		required(s.PolicyName, p.Child("policyName")), refuse(seen.Len() == 0, field.Required(at, "")))
}

// MutatingAdmissionPolicyBinding holds the rules of
// admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBindings.
func MutatingAdmissionPolicyBinding(b, old *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	s, p := &b.Spec, field.NewPath("spec")
	return concat(plainMeta(&b.ObjectMeta, metaOf(old)), boundPolicy(s.PolicyName, s.ParamRef, s.MatchResources, p),
		required(s.PolicyName, p.Child("policyName")))
}

func boundPolicy(name string, ref *admissionv1.ParamRef, m *admissionv1.MatchResources, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if name != "" {
		errs = named(name, p.Child("policyName"), apivalidation.NameIsDNSSubdomain)
	}
	return concat(errs, when(ref, p.Child("paramRef"), paramRef), when(m, p.Child("matchResources"), matchResources))
}

func paramRef(r *admissionv1.ParamRef, p *field.Path) field.ErrorList {
	const exclusive = "name and selector are mutually exclusive"
	both := r.Name != "" && r.Selector != nil
	var errs field.ErrorList
	if r.Name != "" {
		errs = named(r.Name, p.Child("name"), path.ValidatePathSegmentName)
	}
	errs = concat(errs, refuse(both, field.Forbidden(p.Child("name"), exclusive)), labelSelector(r.Selector, p.Child("selector")),
		refuse(both, field.Forbidden(p.Child("selector"), exclusive)),
		refuse(r.Name == "" && r.Selector == nil, field.Required(p, "one of name or selector must be specified")))
	at := p.Child("parameterNotFoundAction")
	if r.ParameterNotFoundAction == nil {
		return append(errs, field.Required(at, ""))
	}
	return append(errs, oneOf(*r.ParameterNotFoundAction, at, admissionv1.DenyAction, admissionv1.AllowAction)...)
}
