package validation

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// reviewVersions are the AdmissionReview versions that the server can send.
var reviewVersions = []string{"v1", "v1beta1"}

// webhook is what validating and mutating webhooks have in common.
type webhook struct {
	name              string
	client            *admissionv1.WebhookClientConfig
	rules             []admissionv1.RuleWithOperations
	failurePolicy     *admissionv1.FailurePolicyType
	matchPolicy       *admissionv1.MatchPolicyType
	namespaces        *metav1.LabelSelector
	objects           *metav1.LabelSelector
	sideEffects       *admissionv1.SideEffectClass
	timeout           *int32
	versions          []string
	conditions        []admissionv1.MatchCondition
	reinvocationOther *admissionv1.ReinvocationPolicyType
}

// ValidatingWebhookConfiguration holds the rules of
// admissionregistration.k8s.io/v1 ValidatingWebhookConfigurations.
func ValidatingWebhookConfiguration(c, old *admissionv1.ValidatingWebhookConfiguration) field.ErrorList {
	hooks := make([]webhook, len(c.Webhooks))
	for i := range c.Webhooks {
		h := &c.Webhooks[i]
		hooks[i] = webhook{h.Name, &h.ClientConfig, h.Rules, h.FailurePolicy, h.MatchPolicy, h.NamespaceSelector, h.ObjectSelector,
			h.SideEffects, h.TimeoutSeconds, h.AdmissionReviewVersions, h.MatchConditions, nil}
	}
	return webhooks(&c.ObjectMeta, metaOf(old), hooks)
}

// MutatingWebhookConfiguration holds the rules of
// admissionregistration.k8s.io/v1 MutatingWebhookConfigurations.
func MutatingWebhookConfiguration(c, old *admissionv1.MutatingWebhookConfiguration) field.ErrorList {
	hooks := make([]webhook, len(c.Webhooks))
	for i := range c.Webhooks {
		h := &c.Webhooks[i]
		hooks[i] = webhook{h.Name, &h.ClientConfig, h.Rules, h.FailurePolicy, h.MatchPolicy, h.NamespaceSelector, h.ObjectSelector,
			h.SideEffects, h.TimeoutSeconds, h.AdmissionReviewVersions, h.MatchConditions, h.ReinvocationPolicy}
	}
	return webhooks(&c.ObjectMeta, metaOf(old), hooks)
}

func webhooks(meta, old *metav1.ObjectMeta, hooks []webhook) field.ErrorList {
	errs := plainMeta(meta, old)
	names := sets.New[string]()
	return append(errs, each(hooks, field.NewPath("webhooks"), func(h *webhook, p *field.Path) field.ErrorList {
		errs := concat(h.errors(p), h.reviewVersions(p.Child("admissionReviewVersions")),
			refuse(h.name != "" && names.Has(h.name), field.Duplicate(p.Child("name"), h.name)))
		names.Insert(h.name)
		return errs
	})...)
}

// plainMeta is the metadata of kinds whose finalizers need no domain, such as
// those of admission.
func plainMeta(meta, old *metav1.ObjectMeta) field.ErrorList {
	p := field.NewPath("metadata")
	errs := apivalidation.ValidateObjectMeta(meta, clusterScoped, apivalidation.NameIsDNSSubdomain, p)
	if old != nil {
		errs = append(errs, apivalidation.ValidateObjectMetaUpdate(meta, old, p)...)
	}
	return errs
}

func (h *webhook) errors(p *field.Path) field.ErrorList {
	errs := concat(validation.IsFullyQualifiedName(p.Child("name"), h.name), each(h.rules, p.Child("rules"), operationRule),
		when(h.failurePolicy, p.Child("failurePolicy"), failurePolicy), when(h.matchPolicy, p.Child("matchPolicy"), matchPolicy))
	if at := p.Child("sideEffects"); h.sideEffects == nil {
		errs = append(errs, field.Required(at, "must specify one of None, NoneOnDryRun"))
	} else {
		errs = append(errs, supported(*h.sideEffects, at, admissionv1.SideEffectClassNone, admissionv1.SideEffectClassNoneOnDryRun)...)
	}
	if t := h.timeout; t != nil && (*t < 1 || *t > 30) {
		errs = append(errs, field.Invalid(p.Child("timeoutSeconds"), *t, "the timeout value must be between 1 and 30 seconds"))
	}
	return concat(errs, labelSelector(h.namespaces, p.Child("namespaceSelector")), labelSelector(h.objects, p.Child("objectSelector")),
		when(h.reinvocationOther, p.Child("reinvocationPolicy"), reinvocationPolicy),
		clientConfig(h.client, p.Child("clientConfig")), matchConditions(h.conditions, webhookVariables, p.Child("matchConditions")))
}

func (h *webhook) reviewVersions(p *field.Path) field.ErrorList {
	if len(h.versions) == 0 {
		return field.ErrorList{field.Required(p, "must specify one of "+strings.Join(reviewVersions, ", "))}
	}
	seen, known := sets.New[string](), false
	errs := each(h.versions, p, func(v *string, p *field.Path) field.ErrorList {
		if seen.Has(*v) {
			return field.ErrorList{field.Invalid(p, *v, "duplicate version")}
		}
		seen.Insert(*v)
		known = known || slices.Contains(reviewVersions, *v)
		return invalids(*v, p, validation.IsDNS1035Label(*v))
	})
	return append(errs, refuse(!known, field.Invalid(p, h.versions, "must include at least one of "+strings.Join(reviewVersions, ", ")))...)
}

func failurePolicy(v *admissionv1.FailurePolicyType, p *field.Path) field.ErrorList {
	return supported(*v, p, admissionv1.Fail, admissionv1.Ignore)
}

func matchPolicy(v *admissionv1.MatchPolicyType, p *field.Path) field.ErrorList {
	return supported(*v, p, admissionv1.Equivalent, admissionv1.Exact)
}

func reinvocationPolicy(v *admissionv1.ReinvocationPolicyType, p *field.Path) field.ErrorList {
	return supported(*v, p, admissionv1.IfNeededReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
}

func clientConfig(c *admissionv1.WebhookClientConfig, p *field.Path) field.ErrorList {
	switch {
	case (c.URL == nil) == (c.Service == nil):
		return field.ErrorList{field.Required(p, "exactly one of url or service is required")}
	case c.URL != nil:
		return webhookURL(*c.URL, p.Child("url"))
	}
	s, at := c.Service, p.Child("service")
	errs := concat(refuse(s.Name == "", field.Required(at.Child("name"), "service name is required")),
		refuse(s.Namespace == "", field.Required(at.Child("namespace"), "service namespace is required")))
	if s.Port != nil {
		if messages := validation.IsValidPortNum(int(*s.Port)); len(messages) > 0 {
			errs = append(errs, field.Invalid(at.Child("port"), *s.Port, "port is not valid: "+strings.Join(messages, ",")))
		}
	}
	return append(errs, when(s.Path, at.Child("path"), webhookPath)...)
}

func webhookURL(text string, p *field.Path) field.ErrorList {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Required(p, "url must be a valid URL: "+err.Error()+form)}
	}
	return concat(
		refuse(u.Scheme != "https", field.Invalid(p, u.Scheme, "'https' is the only allowed URL scheme"+form)),
		refuse(u.Host == "", field.Invalid(p, u.Host, "host must be specified"+form)),
		refuse(u.User != nil, field.Invalid(p, u.User.String(), "user information is not permitted in the URL")),
		refuse(u.Fragment != "", field.Invalid(p, u.Fragment, "fragments are not permitted in the URL")),
		refuse(u.RawQuery != "", field.Invalid(p, u.RawQuery, "query parameters are not permitted in the URL")))
}

func webhookPath(path *string, p *field.Path) field.ErrorList {
	switch *path {
	case "", "/":
		return nil
	case "//":
		return field.ErrorList{field.Invalid(p, *path, "segment[0] may not be empty")}
	}
	errs := refuse(!strings.HasPrefix(*path, "/"), field.Invalid(p, *path, "must start with a '/'"))
	for i, step := range strings.Split(strings.TrimSuffix((*path)[1:], "/"), "/") {
		if step == "" {
			errs = append(errs, field.Invalid(p, *path, fmt.Sprintf("segment[%d] may not be empty", i)))
			continue
		}
		for _, m := range validation.IsDNS1123Subdomain(step) {
			errs = append(errs, field.Invalid(p, *path, fmt.Sprintf("segment[%d]: %v", i, m)))
		}
	}
	return errs
}

func operationRule(r *admissionv1.RuleWithOperations, p *field.Path) field.ErrorList {
	at := p.Child("operations")
	return concat(
		refuse(len(r.Operations) == 0, field.Required(at, "")),
		refuse(len(r.Operations) > 1 && slices.Contains(r.Operations, admissionv1.OperationAll),
			field.Invalid(at, r.Operations, "if '*' is present, must not specify other operations")),
		each(r.Operations, at, func(o *admissionv1.OperationType, p *field.Path) field.ErrorList {
			return supported(*o, p, admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Delete, admissionv1.Update)
		}),
		admissionRule(&r.Rule, p))
}

func admissionRule(r *admissionv1.Rule, p *field.Path) field.ErrorList {
	groups, versions := p.Child("apiGroups"), p.Child("apiVersions")
	return concat(
		refuse(len(r.APIGroups) == 0, field.Required(groups, "")),
		refuse(len(r.APIGroups) > 1 && slices.Contains(r.APIGroups, "*"), field.Invalid(groups, r.APIGroups, "if '*' is present, must not specify other API groups")),
		refuse(len(r.APIVersions) == 0, field.Required(versions, "")),
		refuse(len(r.APIVersions) > 1 && slices.Contains(r.APIVersions, "*"), field.Invalid(versions, r.APIVersions, "if '*' is present, must not specify other API versions")),
		each(r.APIVersions, versions, func(v *string, p *field.Path) field.ErrorList { return required(*v, p) }),
		ruleResources(r.Resources, p.Child("resources")),
		when(r.Scope, p.Child("scope"), func(s *admissionv1.ScopeType, p *field.Path) field.ErrorList {
			return supported(*s, p, admissionv1.AllScopes, admissionv1.ClusterScope, admissionv1.NamespacedScope)
		}))
}

// ruleResources checks resources with subresources and wildcards in either part,
// of which one must not say what another says already.
func ruleResources(list []string, p *field.Path) field.ErrorList {
	errs := refuse(len(list) == 0, field.Required(p, ""))
	allOf, everywhere := sets.New[string](), sets.New[string]() // x of x/*, y of */y
	plain := false
	errs = append(errs, each(list, p, func(r *string, p *field.Path) field.ErrorList {
		resource, sub, nested := strings.Cut(*r, "/")
		switch {
		case *r == "":
			return field.ErrorList{field.Required(p, "")}
		case !nested:
			plain = *r != "*"
			return nil
		}
		errs := concat(
			refuse(allOf.Has(resource), field.Invalid(p, *r, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, *r))),
			refuse(everywhere.Has(sub), field.Invalid(p, *r, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, *r))))
		if sub == "*" {
			allOf.Insert(resource)
		}
		if resource == "*" {
			everywhere.Insert(sub)
		}
		return errs
	})...)
	return concat(errs,
		refuse(len(list) > 1 && slices.Contains(list, "*/*"), field.Invalid(p, list, "if '*/*' is present, must not specify other resources")),
		refuse(plain && slices.Contains(list, "*"), field.Invalid(p, list, "if '*' is present, must not specify other resources without subresources")))
}

func matchConditions(list []admissionv1.MatchCondition, variables []string, p *field.Path) field.ErrorList {
	names := sets.New[string]()
	return append(refuse(len(list) > 64, field.TooMany(p, len(list), 64)), each(list, p, func(c *admissionv1.MatchCondition, p *field.Path) field.ErrorList {
		var errs field.ErrorList
		if text := strings.TrimSpace(c.Expression); text == "" {
			errs = append(errs, field.Required(p.Child("expression"), ""))
		} else {
			errs = append(errs, celExpression(text, variables, p.Child("expression"))...)
		}
		at := p.Child("name")
		if c.Name == "" {
			return append(errs, field.Required(at, ""))
		}
		errs = append(errs, concat(qualifiedName(c.Name, at), refuse(names.Has(c.Name), field.Duplicate(at, c.Name)))...)
		names.Insert(c.Name)
		return errs
	})...)
}
