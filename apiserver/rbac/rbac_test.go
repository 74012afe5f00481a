package rbac

import (
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// policy is a Lister over objects.
type policy struct {
	clusterRoles    []*rbacv1.ClusterRole
	clusterBindings []*rbacv1.ClusterRoleBinding
	roles           []*rbacv1.Role
	bindings        []*rbacv1.RoleBinding
}

func bootstrapPolicy() *policy {
	return &policy{clusterRoles: ClusterRoles(), clusterBindings: ClusterRoleBindings(), roles: Roles(), bindings: RoleBindings()}
}

func (p *policy) ClusterRoleBindings() ([]*rbacv1.ClusterRoleBinding, error) {
	return p.clusterBindings, nil
}

func (p *policy) RoleBindings(namespace string) ([]*rbacv1.RoleBinding, error) {
	return slices.DeleteFunc(slices.Clone(p.bindings), func(b *rbacv1.RoleBinding) bool { return b.Namespace != namespace }), nil
}

func (p *policy) ClusterRole(name string) (*rbacv1.ClusterRole, error) {
	for _, r := range p.clusterRoles {
		if r.Name == name {
			return r, nil
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("clusterroles"), name)
}

func (p *policy) Role(namespace, name string) (*rbacv1.Role, error) {
	for _, r := range p.roles {
		if r.Namespace == namespace && r.Name == name {
			return r, nil
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("roles"), name)
}

func TestBootstrapPolicy(t *testing.T) {
	z := New(bootstrapPolicy())
	user := func(name string, groups ...string) authenticationv1.UserInfo {
		return authenticationv1.UserInfo{Username: name, Groups: append(groups, "system:authenticated")}
	}
	anonymous := authenticationv1.UserInfo{Username: "system:anonymous", Groups: []string{"system:unauthenticated"}}
	controller := func(name string) authenticationv1.UserInfo {
		return user("system:serviceaccount:kube-system:" + name)
	}
	for _, test := range []struct {
		user    authenticationv1.UserInfo
		verb    string
		what    string // GROUP/RESOURCE[/SUBRESOURCE], or a path with two slashes in front
		where   string
		allowed bool
	}{
		{user("jane"), "get", "//version", "", true},
		{user("jane"), "get", "//metrics", "", false},
		{user("jane"), "get", "//apis/apps/v1", "", true},
		{user("jane"), "post", "//version", "", false},
		{user("jane"), "create", "authorization.k8s.io/selfsubjectaccessreviews", "", true},
		{user("jane"), "list", "/pods", "default", false},
		{anonymous, "get", "//healthz", "", true},
		{anonymous, "get", "//apis", "", false},
		{user("root", "system:masters"), "delete", "/nodes", "", true},
		{user("root", "system:masters"), "get", "//metrics", "", true},
		{user("system:kube-scheduler"), "create", "/pods/binding", "default", true},
		{user("system:kube-scheduler"), "create", "/pods", "default", false},
		{user("system:kube-scheduler"), "update", "coordination.k8s.io/leases", "kube-system", true},
		{user("system:kube-scheduler"), "update", "coordination.k8s.io/leases", "default", false},
		{controller("deployment-controller"), "create", "apps/replicasets", "default", true},
		{controller("deployment-controller"), "create", "/pods", "default", false},
		{controller("disruption-controller"), "get", "apps/deployments/scale", "default", true},
		{controller("disruption-controller"), "get", "apps/deployments/status", "default", false},
		{user("system:serviceaccount:default:deployment-controller"), "create", "apps/replicasets", "default", false},
		{user("system:serviceaccount:default:x", "system:serviceaccounts"), "get", "//openid/v1/jwks", "", true},
	} {
		a := &Attributes{User: test.user, Verb: test.verb, Namespace: test.where}
		if path, ok := strings.CutPrefix(test.what, "/"); ok && strings.HasPrefix(path, "/") {
			a.Path = path
		} else {
			group, resource, _ := strings.Cut(test.what, "/")
			a.Group = group
			a.Resource, a.Subresource, _ = strings.Cut(resource, "/")
		}
		if d := z.Authorize(a); d.Allowed != test.allowed {
			t.Errorf("%v: allowed %t (%s), want %t", a, d.Allowed, d.Reason, test.allowed)
		}
	}
}

func TestNamedResources(t *testing.T) {
	z := New(&policy{
		roles: []*rbacv1.Role{{ObjectMeta: meta("default", "r"), Rules: []rbacv1.PolicyRule{on("get", core, "pods pods/log", "one")}}},
		bindings: []*rbacv1.RoleBinding{{
			ObjectMeta: meta("default", "b"), RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "r"},
			Subjects: []rbacv1.Subject{{Kind: "Group", Name: "readers"}},
		}, {
			ObjectMeta: meta("default", "c"), RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "missing"},
			Subjects: []rbacv1.Subject{{Kind: "User", Name: "u"}},
		}},
	})
	a := Attributes{User: authenticationv1.UserInfo{Username: "u", Groups: []string{"readers"}}, Verb: "get", Resource: "pods", Namespace: "default", Name: "one"}
	d := z.Authorize(&a)
	if want := `RBAC: allowed by RoleBinding "b/default" of Role "r" to Group "readers"`; !d.Allowed || d.Reason != want {
		t.Errorf("allowed %t: %s, want %s", d.Allowed, d.Reason, want)
	} else if want += " by rule get on pods,pods/log named one"; d.String() != want {
		t.Errorf("explained by %s, want %s", d.String(), want)
	}
	a.Name = "two"
	d = z.Authorize(&a)
	if want := `RBAC: clusterroles.rbac.authorization.k8s.io "missing" not found`; d.Allowed || d.Reason != want {
		t.Errorf("allowed %t: %s, want no: %s", d.Allowed, d.Reason, want)
	}
}

func TestCovers(t *testing.T) {
	z := New(bootstrapPolicy())
	scheduler := authenticationv1.UserInfo{Username: "system:kube-scheduler", Groups: []string{"a"}}
	if err := z.Covers(scheduler, "", []rbacv1.PolicyRule{on("get", core, "pods"), on("list", core, "nodes")}); err != nil {
		t.Error(err)
	}
	err := z.Covers(scheduler, "", []rbacv1.PolicyRule{on("get list create", core, "pods secrets")})
	want := `user "system:kube-scheduler" (groups=["a"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods"], Verbs:["create"]}
{APIGroups:[""], Resources:["secrets"], Verbs:["create" "get" "list"]}`
	if err == nil || err.Error() != want {
		t.Errorf("error:\n%v\nwant:\n%s", err, want)
	}
}

// TestRolesBound checks that each binding names a role that there is, and each
// role but those for people to bind has a binding.
func TestRolesBound(t *testing.T) {
	p := bootstrapPolicy()
	names := map[string]bool{}
	for _, r := range p.clusterRoles {
		if names[r.Name] {
			t.Errorf("two ClusterRoles %s", r.Name)
		}
		names[r.Name] = true
		for _, rule := range r.Rules {
			if len(rule.Verbs) == 0 || len(rule.Resources) == 0 && len(rule.NonResourceURLs) == 0 || slices.Contains(rule.APIGroups, core) {
				t.Errorf("%s: rule %+v", r.Name, rule)
			}
		}
	}
	for _, b := range p.clusterBindings {
		if !names[b.RoleRef.Name] {
			t.Errorf("ClusterRoleBinding %s: no ClusterRole %s", b.Name, b.RoleRef.Name)
		}
	}
	for _, b := range p.bindings {
		if _, err := p.Role(b.Namespace, b.RoleRef.Name); err != nil {
			t.Errorf("RoleBinding %s/%s: %v", b.Namespace, b.Name, err)
		}
	}
}
