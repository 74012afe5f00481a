package validation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxQueues   = 10_000_000
	maxHashBits = 60 // of a flow's hash, which deals a hand of queues
)

var flowVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}

// FlowSchema holds the rules of flowcontrol.apiserver.k8s.io/v1 FlowSchemas.
func FlowSchema(f, old *flowcontrolv1.FlowSchema) field.ErrorList {
	s, p := &f.Spec, field.NewPath("spec")
	precedence := p.Child("matchingPrecedence")
	errs := concat(metaBoth(&f.ObjectMeta, metaOf(old), clusterScoped, apivalidation.NameIsDNSSubdomain),
		refuse(s.MatchingPrecedence <= 0, field.Invalid(precedence, s.MatchingPrecedence, "must be a positive value")),
		refuse(s.MatchingPrecedence > flowcontrolv1.FlowSchemaMaxMatchingPrecedence, field.Invalid(precedence, s.MatchingPrecedence,
			fmt.Sprintf("must not be greater than %v", flowcontrolv1.FlowSchemaMaxMatchingPrecedence))),
		refuse(s.MatchingPrecedence == 1 && f.Name != flowcontrolv1.FlowSchemaNameExempt,
			field.Invalid(precedence, s.MatchingPrecedence, "only the schema named 'exempt' may have matchingPrecedence 1")))
	if m := s.DistinguisherMethod; m != nil && m.Type != flowcontrolv1.FlowDistinguisherMethodByNamespaceType && m.Type != flowcontrolv1.FlowDistinguisherMethodByUserType {
		errs = append(errs, field.NotSupported(p.Child("distinguisherMethod", "type"), byFieldName(m), []flowcontrolv1.FlowDistinguisherMethodType{
			flowcontrolv1.FlowDistinguisherMethodByNamespaceType, flowcontrolv1.FlowDistinguisherMethodByUserType}))
	}
	if at := p.Child("priorityLevelConfiguration", "name"); s.PriorityLevelConfiguration.Name == "" {
		errs = append(errs, field.Required(at, "must reference a priority level"))
	} else {
		errs = append(errs, named(s.PriorityLevelConfiguration.Name, at, apivalidation.NameIsDNSSubdomain)...)
	}
	return concat(errs, each(s.Rules, p.Child("rules"), flowRule), FlowSchemaStatus(f, nil))
}

// FlowSchemaStatus holds the rules of a write to flowschemas/status.
func FlowSchemaStatus(f, _ *flowcontrolv1.FlowSchema) field.ErrorList {
	types := make([]string, len(f.Status.Conditions))
	for i, c := range f.Status.Conditions {
		types[i] = string(c.Type)
	}
	return flowConditions(types)
}

func flowConditions(types []string) field.ErrorList {
	seen := sets.New[string]()
	return each(types, field.NewPath("status", "conditions"), func(t *string, p *field.Path) field.ErrorList {
		errs := append(refuse(seen.Has(*t), field.Duplicate(p.Child("type"), *t)),
			refuse(*t == "", field.Required(p.Child("type"), "must not be empty"))...)
		seen.Insert(*t)
		return errs
	})
}

func flowRule(r *flowcontrolv1.PolicyRulesWithSubjects, p *field.Path) field.ErrorList {
	return concat(
		each(r.Subjects, p.Child("subjects"), flowSubject),
		refuse(len(r.Subjects) == 0, field.Required(p.Child("subjects"), "subjects must contain at least one value")),
		refuse(len(r.ResourceRules)+len(r.NonResourceRules) == 0, field.Required(p, "at least one of resourceRules and nonResourceRules has to be non-empty")),
		each(r.ResourceRules, p.Child("resourceRules"), flowResourceRule),
		each(r.NonResourceRules, p.Child("nonResourceRules"), flowURLRule))
}

func flowSubject(s *flowcontrolv1.Subject, p *field.Path) field.ErrorList {
	kinds := []struct {
		kind  flowcontrolv1.SubjectKind
		name  string
		set   bool
		check func(*field.Path) field.ErrorList
	}{
		{flowcontrolv1.SubjectKindServiceAccount, "serviceAccount", s.ServiceAccount != nil, func(p *field.Path) field.ErrorList { return flowAccount(s.ServiceAccount, p) }},
		{flowcontrolv1.SubjectKindUser, "user", s.User != nil, func(p *field.Path) field.ErrorList { return required(s.User.Name, p.Child("name")) }},
		{flowcontrolv1.SubjectKindGroup, "group", s.Group != nil, func(p *field.Path) field.ErrorList { return required(s.Group.Name, p.Child("name")) }},
	}
	if errs := supported(s.Kind, p.Child("kind"), flowcontrolv1.SubjectKindGroup, flowcontrolv1.SubjectKindServiceAccount, flowcontrolv1.SubjectKindUser); len(errs) > 0 {
		return errs
	}
	var own, others field.ErrorList
	for _, k := range kinds {
		at := p.Child(k.name)
		switch {
		case k.kind == s.Kind && !k.set:
			own = append(own, field.Required(at, fmt.Sprintf("%s is required when subject kind is '%s'", k.name, k.kind)))
		case k.kind == s.Kind:
			own = append(own, k.check(at)...)
		case k.set:
			others = append(others, field.Forbidden(at, fmt.Sprintf("%s is forbidden when subject kind is not '%s'", k.name, k.kind)))
		}
	}
	return append(own, others...)
}

func flowAccount(a *flowcontrolv1.ServiceAccountSubject, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if a.Name != flowcontrolv1.NameAll {
		errs = requiredName(a.Name, p.Child("name"), apivalidation.ValidateServiceAccountName)
	}
	if a.Namespace == "" {
		return append(errs, field.Required(p.Child("namespace"), "must specify namespace for service account"))
	}
	return append(errs, named(a.Namespace, p.Child("namespace"), apivalidation.ValidateNamespaceName)...)
}

// wildcardList checks a list that is either a star alone, or items of its own.
func wildcardList(list []string, p *field.Path, missing, noun string, items func() field.ErrorList) field.ErrorList {
	switch {
	case len(list) == 0:
		return field.ErrorList{field.Required(p, missing)}
	case slices.Contains(list, "*"):
		return refuse(len(list) > 1, field.Invalid(p, list, "if '*' is present, must not specify other "+noun))
	}
	return items()
}

func flowVerbList(list []string, p *field.Path) field.ErrorList {
	return wildcardList(list, p, "verbs must contain at least one value", "verbs", func() field.ErrorList {
		return refuse(!sets.New(flowVerbs...).HasAll(list...), field.NotSupported(p, list, flowVerbs))
	})
}

func anything() field.ErrorList { return nil }

func flowResourceRule(r *flowcontrolv1.ResourcePolicyRule, p *field.Path) field.ErrorList {
	errs := concat(flowVerbList(r.Verbs, p.Child("verbs")),
		wildcardList(r.APIGroups, p.Child("apiGroups"), "resource rules must supply at least one api group", "api groups", anything),
		wildcardList(r.Resources, p.Child("resources"), "resource rules must supply at least one resource", "resources", anything))
	at := p.Child("namespaces")
	if len(r.Namespaces) == 0 && r.ClusterScope {
		return errs
	}
	return append(errs, wildcardList(r.Namespaces, at, "resource rules that are not cluster scoped must supply at least one namespace", "namespaces", func() field.ErrorList {
		return each(r.Namespaces, at, func(ns *string, p *field.Path) field.ErrorList {
			var errs field.ErrorList
			for _, m := range apivalidation.ValidateNamespaceName(*ns, false) {
				errs = append(errs, field.Invalid(p, *ns, "each member of this list must be '*' or a DNS-1123 label; "+m))
			}
			return errs
		})
	})...)
}

func flowURLRule(r *flowcontrolv1.NonResourcePolicyRule, p *field.Path) field.ErrorList {
	at := p.Child("nonResourceURLs")
	return append(flowVerbList(r.Verbs, p.Child("verbs")),
		wildcardList(r.NonResourceURLs, at, "nonResourceURLs must contain at least one value", "non-resource URLs", func() field.ErrorList {
			return each(r.NonResourceURLs, at, flowURL)
		})...)
}

func flowURL(u *string, p *field.Path) field.ErrorList {
	problem := ""
	stars := strings.Count(*u, "*")
	switch {
	case *u == "":
		problem = "must not be empty"
	case *u == "/":
	case !strings.HasPrefix(*u, "/"):
		problem = "must start with slash"
	case strings.Contains(*u, " "):
		problem = "must not contain white-space"
	case strings.Contains(*u, "//"):
		problem = "must not contain double slash"
	case stars > 1 || stars == 1 && !strings.HasSuffix(*u, "/*"):
		problem = "wildcard can only do suffix matching"
	}
	return refuse(problem != "", field.Invalid(p, *u, problem))
}

// PriorityLevelConfiguration holds the rules of flowcontrol.apiserver.k8s.io/v1
// PriorityLevelConfigurations.
func PriorityLevelConfiguration(c, old *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	s, p := &c.Spec, field.NewPath("spec")
	exempt := s.Type == flowcontrolv1.PriorityLevelEnablementExempt
	errs := append(metaBoth(&c.ObjectMeta, metaOf(old), clusterScoped, apivalidation.NameIsDNSSubdomain),
		refuse(exempt != (c.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt),
			field.Invalid(p.Child("type"), s.Type, "type must be 'Exempt' if and only if name is 'exempt'"))...)
	switch limited := p.Child("limited"); s.Type {
	case flowcontrolv1.PriorityLevelEnablementExempt:
		errs = append(errs, refuse(s.Limited != nil, field.Forbidden(limited, "must be nil if the type is not Limited"))...)
		if e := s.Exempt; e != nil {
			errs = append(errs, concurrency(e.NominalConcurrencyShares, e.LendablePercent, p.Child("exempt"))...)
		}
	case flowcontrolv1.PriorityLevelEnablementLimited:
		errs = append(errs, refuse(s.Exempt != nil, field.Forbidden(p.Child("exempt"), "must be nil if the type is Limited"))...)
		if s.Limited == nil {
			errs = append(errs, field.Required(limited, "must not be empty when type is Limited"))
		} else {
			errs = append(errs, limitedLevel(s.Limited, limited)...)
		}
	default:
		errs = append(errs, oneOf(s.Type, p.Child("type"), flowcontrolv1.PriorityLevelEnablementExempt, flowcontrolv1.PriorityLevelEnablementLimited)...)
	}
	return append(errs, PriorityLevelConfigurationStatus(c, nil)...)
}

// PriorityLevelConfigurationStatus holds the rules of a write to
// prioritylevelconfigurations/status.
func PriorityLevelConfigurationStatus(c, _ *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	types := make([]string, len(c.Status.Conditions))
	for i, condition := range c.Status.Conditions {
		types[i] = string(condition.Type)
	}
	return flowConditions(types)
}

func concurrency(shares, lendable *int32, p *field.Path) field.ErrorList {
	return concat(
		refuse(shares != nil && *shares < 0, field.Invalid(p.Child("nominalConcurrencyShares"), shares, "must be a non-negative integer")),
		refuse(lendable != nil && (*lendable < 0 || *lendable > 100), field.Invalid(p.Child("lendablePercent"), lendable, "must be between 0 and 100, inclusive")))
}

func limitedLevel(l *flowcontrolv1.LimitedPriorityLevelConfiguration, p *field.Path) field.ErrorList {
	errs := concurrency(l.NominalConcurrencyShares, nil, p)
	r, at := &l.LimitResponse, p.Child("limitResponse")
	switch queuing := at.Child("queuing"); r.Type {
	case flowcontrolv1.LimitResponseTypeReject:
		errs = append(errs, refuse(r.Queuing != nil, field.Forbidden(queuing, "must be nil if limited.limitResponse.type is not Limited"))...)
	case flowcontrolv1.LimitResponseTypeQueue:
		if r.Queuing == nil {
			errs = append(errs, field.Required(queuing, "must not be empty if limited.limitResponse.type is Limited"))
		} else {
			errs = append(errs, queues(r.Queuing, queuing)...)
		}
	default:
		errs = append(errs, oneOf(r.Type, at.Child("type"), flowcontrolv1.LimitResponseTypeQueue, flowcontrolv1.LimitResponseTypeReject)...)
	}
	return concat(errs, concurrency(nil, l.LendablePercent, p),
		refuse(l.BorrowingLimitPercent != nil && *l.BorrowingLimitPercent < 0,
			field.Invalid(p.Child("borrowingLimitPercent"), l.BorrowingLimitPercent, "if specified, must be a non-negative integer")))
}

func queues(q *flowcontrolv1.QueuingConfiguration, p *field.Path) field.ErrorList {
	hand := p.Child("handSize")
	errs := concat(
		refuse(q.QueueLengthLimit <= 0, field.Invalid(p.Child("queueLengthLimit"), q.QueueLengthLimit, "must be positive")),
		refuse(q.Queues <= 0, field.Invalid(p.Child("queues"), q.Queues, "must be positive")),
		refuse(q.Queues > maxQueues, field.Invalid(p.Child("queues"), q.Queues, fmt.Sprintf("must not be greater than %d", maxQueues))))
	switch {
	case q.HandSize <= 0:
		errs = append(errs, field.Invalid(hand, q.HandSize, "must be positive"))
	case q.HandSize > q.Queues:
		errs = append(errs, field.Invalid(hand, q.HandSize, fmt.Sprintf("should not be greater than queues (%d)", q.Queues)))
	case handBits(q.Queues, q.HandSize) > maxHashBits:
		errs = append(errs, field.Invalid(hand, q.HandSize,
			fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", q.Queues, q.HandSize, maxHashBits)))
	}
	return errs
}

// handBits is how many bits of a hash it takes to deal a hand from a deck.
func handBits(deck, hand int32) int {
	return int(math.Ceil(math.Log2(float64(deck)) * float64(hand)))
}
