package rbac

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kubesim/kubesim/apiserver/authentication"
)

// Attributes are what is asked: may User do Verb with the resource or, if Path
// is set, with the path.
type Attributes struct {
	User authenticationv1.UserInfo
	Verb string

	Group, Version, Resource, Subresource string
	Namespace, Name                       string

	Path string

	// Fields are what a field selector asks for.
	Fields map[string]string
}

// FullResource is RESOURCE or RESOURCE/SUBRESOURCE, as rules have it.
func (a *Attributes) FullResource() string {
	if a.Subresource == "" {
		return a.Resource
	}
	return a.Resource + "/" + a.Subresource
}

// String says what is wanted, as in the message of a refusal.
func (a *Attributes) String() string {
	switch {
	case a.Path != "":
		return fmt.Sprintf("User %q cannot %s path %q", a.User.Username, a.Verb, a.Path)
	case a.Namespace != "":
		return fmt.Sprintf("User %q cannot %s resource %q in API group %q in the namespace %q", a.User.Username, a.Verb, a.FullResource(), a.Group, a.Namespace)
	}
	return fmt.Sprintf("User %q cannot %s resource %q in API group %q at the cluster scope", a.User.Username, a.Verb, a.FullResource(), a.Group)
}

// Lister reads roles and bindings. What it returns must not be changed. A role
// that is missing is a NotFound.
type Lister interface {
	ClusterRoleBindings() ([]*rbacv1.ClusterRoleBinding, error)
	RoleBindings(namespace string) ([]*rbacv1.RoleBinding, error)
	ClusterRole(name string) (*rbacv1.ClusterRole, error)
	Role(namespace, name string) (*rbacv1.Role, error)
}

// Authorizer decides by the roles that its Lister finds.
type Authorizer struct{ roles Lister }

// New makes an Authorizer.
func New(roles Lister) *Authorizer { return &Authorizer{roles} }

// Decision is whether a request is allowed, and why.
type Decision struct {
	Allowed bool
	Reason  string             // in Kubernetes' words
	Rule    *rbacv1.PolicyRule // that allows it, if one does; not to be changed
}

// String is the reason with the rule.
func (d *Decision) String() string {
	if d.Rule == nil {
		return d.Reason
	}
	return d.Reason + " by rule " + ruleString(d.Rule)
}

// ruleString is a rule in short, as in "get,list on pods.apps named a,b".
func ruleString(rule *rbacv1.PolicyRule) string {
	what := slices.Clone(rule.NonResourceURLs)
	for _, resource := range rule.Resources {
		for _, group := range rule.APIGroups {
			what = append(what, strings.TrimSuffix(resource+"."+group, "."))
		}
	}
	text := strings.Join(rule.Verbs, ",") + " on " + strings.Join(what, ",")
	if len(rule.ResourceNames) > 0 {
		text += " named " + strings.Join(rule.ResourceNames, ",")
	}
	if len(text) > ruleShown {
		return text[:ruleShown] + "…"
	}
	return text
}

const ruleShown = 300 // bytes of a rule

// Authorize tells whether a rule allows the request, and which binding brought
// it. The reason of a no is what could not be read.
func (z *Authorizer) Authorize(a *Attributes) Decision {
	var d Decision
	err := z.visit(a.User, a.Namespace, func(b *binding, rules []rbacv1.PolicyRule) bool {
		for i := range rules {
			if allows(&rules[i], a) {
				d = Decision{Allowed: true, Reason: "RBAC: allowed by " + b.String(), Rule: &rules[i]}
				return false
			}
		}
		return true
	})
	if !d.Allowed && err != nil {
		d.Reason = fmt.Sprintf("RBAC: %v", err)
	}
	return d
}

// RoleAllows tells whether a role that every cluster has would allow the request.
func RoleAllows(name string, a *Attributes) bool {
	return slices.ContainsFunc(bootstrapRules()[name], func(rule rbacv1.PolicyRule) bool { return allows(&rule, a) })
}

// bootstrapRules are the rules of the bootstrap policy's ClusterRoles, by name.
var bootstrapRules = sync.OnceValue(func() map[string][]rbacv1.PolicyRule {
	rules := map[string][]rbacv1.PolicyRule{}
	for _, r := range clusterRoles() {
		rules[r.name] = r.rules
	}
	return rules
})

// Rules are all rules of a user in a namespace, "" for those that hold everywhere.
func (z *Authorizer) Rules(user authenticationv1.UserInfo, namespace string) ([]rbacv1.PolicyRule, error) {
	var out []rbacv1.PolicyRule
	err := z.visit(user, namespace, func(_ *binding, rules []rbacv1.PolicyRule) bool {
		out = append(out, rules...)
		return true
	})
	return out, err
}

// binding is a (Cluster)RoleBinding with the subject that fits.
type binding struct {
	kind, name, namespace string
	ref                   rbacv1.RoleRef
	subject               *rbacv1.Subject
}

// String says whom a binding gives what.
func (b *binding) String() string {
	name := b.name
	if b.namespace != "" {
		name += "/" + b.namespace
	}
	subject := b.subject.Name
	if b.subject.Kind == rbacv1.ServiceAccountKind {
		subject += "/" + b.subject.Namespace
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q", b.kind, name, b.ref.Kind, b.ref.Name, b.subject.Kind, subject)
}

// visit shows the rules of each binding that fits the user, cluster-wide ones
// first, until see says no. What it could not read is its error.
func (z *Authorizer) visit(user authenticationv1.UserInfo, namespace string, see func(*binding, []rbacv1.PolicyRule) bool) error {
	cluster, err := z.roles.ClusterRoleBindings()
	errs := []error{err}
	for _, b := range cluster {
		subject := subjectOf(user, "", b.Subjects)
		if subject == nil {
			continue
		}
		rules, err := z.RulesOf(b.RoleRef, "")
		errs = append(errs, err)
		if err == nil && !see(&binding{kind: "ClusterRoleBinding", name: b.Name, ref: b.RoleRef, subject: subject}, rules) {
			return nil
		}
	}
	if namespace == "" {
		return utilerrors.NewAggregate(errs)
	}
	local, err := z.roles.RoleBindings(namespace)
	errs = append(errs, err)
	for _, b := range local {
		subject := subjectOf(user, namespace, b.Subjects)
		if subject == nil {
			continue
		}
		rules, err := z.RulesOf(b.RoleRef, namespace)
		errs = append(errs, err)
		if err == nil && !see(&binding{kind: "RoleBinding", name: b.Name, namespace: namespace, ref: b.RoleRef, subject: subject}, rules) {
			return nil
		}
	}
	return utilerrors.NewAggregate(errs)
}

// RulesOf reads the role that a binding in a namespace, or none, refers to.
func (z *Authorizer) RulesOf(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	if ref.Kind == "Role" {
		role, err := z.roles.Role(namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		return role.Rules, nil
	}
	role, err := z.roles.ClusterRole(ref.Name)
	if err != nil {
		return nil, err
	}
	return role.Rules, nil
}

// subjectOf finds the user among the subjects of a binding.
func subjectOf(user authenticationv1.UserInfo, namespace string, subjects []rbacv1.Subject) *rbacv1.Subject {
	for i := range subjects {
		s := &subjects[i]
		switch s.Kind {
		case rbacv1.UserKind:
			if s.Name == user.Username {
				return s
			}
		case rbacv1.GroupKind:
			if slices.Contains(user.Groups, s.Name) {
				return s
			}
		case rbacv1.ServiceAccountKind:
			in := s.Namespace
			if in == "" {
				in = namespace
			}
			if in != "" && user.Username == authentication.AccountUser(in, s.Name).Username {
				return s
			}
		}
	}
	return nil
}

// allows tells whether a rule covers what is asked.
func allows(rule *rbacv1.PolicyRule, a *Attributes) bool {
	if !has(rule.Verbs, a.Verb) {
		return false
	}
	if a.Path != "" {
		return slices.ContainsFunc(rule.NonResourceURLs, func(pattern string) bool {
			prefix, open := strings.CutSuffix(pattern, "*")
			return pattern == a.Path || open && strings.HasPrefix(a.Path, prefix)
		})
	}
	return has(rule.APIGroups, a.Group) && hasResource(rule.Resources, a) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.Name))
}

func has(list []string, want string) bool {
	return slices.Contains(list, rbacv1.VerbAll) || slices.Contains(list, want)
}

// hasResource knows */SUBRESOURCE besides names.
func hasResource(list []string, a *Attributes) bool {
	return has(list, a.FullResource()) || a.Subresource != "" && slices.Contains(list, "*/"+a.Subresource)
}
