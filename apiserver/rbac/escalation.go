package rbac

import (
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// Covers is nil if the user himself has all the rules in the namespace, and says
// which he lacks otherwise.
func (z *Authorizer) Covers(user authenticationv1.UserInfo, namespace string, rules []rbacv1.PolicyRule) error {
	own, err := z.Rules(user, namespace)
	covered, missing := validation.Covers(own, rules)
	if covered {
		return nil
	}
	var lines []string
	for _, rule := range compact(missing) {
		lines = append(lines, describe(rule))
	}
	slices.Sort(lines)
	message := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		user.Username, user.Groups, strings.Join(slices.Compact(lines), "\n"))
	if err != nil {
		message += fmt.Sprintf("; resolution errors: %v", err)
	}
	return &EscalationError{message}
}

// EscalationError tells which rights somebody wanted to give that he has not himself.
type EscalationError struct{ message string }

// Error implements error.
func (e *EscalationError) Error() string { return e.message }

// compact joins the verbs of rules for the same single resource.
func compact(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	type resource struct{ group, resource, name string }
	var out []rbacv1.PolicyRule
	at := map[resource]int{}
	for _, rule := range rules {
		if len(rule.NonResourceURLs) > 0 || len(rule.APIGroups) != 1 || len(rule.Resources) != 1 || len(rule.ResourceNames) > 1 {
			out = append(out, rule)
			continue
		}
		r := resource{group: rule.APIGroups[0], resource: rule.Resources[0], name: strings.Join(rule.ResourceNames, "")}
		if i, ok := at[r]; ok {
			out[i].Verbs = append(out[i].Verbs, rule.Verbs...)
			continue
		}
		at[r] = len(out)
		rule.Verbs = slices.Clone(rule.Verbs)
		out = append(out, rule)
	}
	return out
}

func describe(rule rbacv1.PolicyRule) string {
	var parts []string
	for _, field := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", rule.APIGroups}, {"Resources", rule.Resources}, {"NonResourceURLs", rule.NonResourceURLs},
		{"ResourceNames", rule.ResourceNames}, {"Verbs", rule.Verbs},
	} {
		if len(field.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", field.name, field.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
