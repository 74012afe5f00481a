package fairness

import (
	"cmp"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/types"
)

// schema says which requests belong to a level.
type schema struct {
	name, level string
	uid         types.UID
	rules       []flowcontrolv1.PolicyRulesWithSubjects
	method      flowcontrolv1.FlowDistinguisherMethodType
}

// sortSchemas puts those first that are to be asked first.
func sortSchemas(all []*flowcontrolv1.FlowSchema) []*schema {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b *flowcontrolv1.FlowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
	})
	out := make([]*schema, len(sorted))
	for i, s := range sorted {
		out[i] = &schema{name: s.Name, level: s.Spec.PriorityLevelConfiguration.Name, uid: s.UID, rules: s.Spec.Rules}
		if s.Spec.DistinguisherMethod != nil {
			out[i].method = s.Spec.DistinguisherMethod.Type
		}
	}
	return out
}

// distinguish names the flow of a request within the schema.
func (s *schema) distinguish(r *Request) string {
	switch s.method {
	case flowcontrolv1.FlowDistinguisherMethodByUserType:
		return r.User.Username
	case flowcontrolv1.FlowDistinguisherMethodByNamespaceType:
		return r.Namespace
	}
	return ""
}

func (s *schema) about(r *Request) bool {
	return slices.ContainsFunc(s.rules, func(rule flowcontrolv1.PolicyRulesWithSubjects) bool {
		if !slices.ContainsFunc(rule.Subjects, func(subject flowcontrolv1.Subject) bool { return isSubject(&subject, r) }) {
			return false
		}
		if r.Path != "" {
			return slices.ContainsFunc(rule.NonResourceRules, func(n flowcontrolv1.NonResourcePolicyRule) bool {
				return matches(n.Verbs, r.Verb) && slices.ContainsFunc(n.NonResourceURLs, func(pattern string) bool { return pathMatches(pattern, r.Path) })
			})
		}
		return slices.ContainsFunc(rule.ResourceRules, func(n flowcontrolv1.ResourcePolicyRule) bool {
			return matches(n.Verbs, r.Verb) && matches(n.APIGroups, r.Group) && matches(n.Resources, r.Resource) &&
				(r.Namespace == "" && n.ClusterScope || r.Namespace != "" && matches(n.Namespaces, r.Namespace))
		})
	})
}

func matches(list []string, want string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, want)
}

func pathMatches(pattern, path string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(path, prefix)
	}
	return pattern == path
}

func isSubject(s *flowcontrolv1.Subject, r *Request) bool {
	switch {
	case s.User != nil:
		return s.User.Name == "*" || s.User.Name == r.User.Username
	case s.Group != nil:
		return s.Group.Name == "*" || slices.Contains(r.User.Groups, s.Group.Name)
	case s.ServiceAccount != nil:
		namespace, name, _ := strings.Cut(strings.TrimPrefix(r.User.Username, "system:serviceaccount:"), ":")
		return strings.HasPrefix(r.User.Username, "system:serviceaccount:") && namespace == s.ServiceAccount.Namespace &&
			(s.ServiceAccount.Name == "*" || s.ServiceAccount.Name == name)
	}
	return false
}
