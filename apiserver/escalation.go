package apiserver

import (
	"context"
	"errors"
	"reflect"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/apiserver/rbac"
)

// checkEscalation lets nobody write a role with rights that he has not himself,
// nor bind one, unless another role gives him the verb escalate or bind.
func (s *Server) checkEscalation(ctx context.Context, q *request, obj, old runtime.Object) error {
	if q.res.Group != rbacv1.GroupName || s.authorizer == nil {
		return nil
	}
	user := userOf(ctx)
	if user.Username == "" || isMaster(user) { // the server itself, or who may do all
		return nil
	}
	var err error
	switch o := obj.(type) {
	case *rbacv1.Role:
		if was, ok := old.(*rbacv1.Role); ok && reflect.DeepEqual(was.Rules, o.Rules) || s.may(user, "escalate", q, o.Name) {
			return nil
		}
		err = s.authorizer.Covers(user, q.namespace, o.Rules)
	case *rbacv1.ClusterRole:
		err = s.checkClusterRole(user, q, o, old)
	case *rbacv1.RoleBinding:
		if was, ok := old.(*rbacv1.RoleBinding); ok && reflect.DeepEqual(was.Subjects, o.Subjects) && was.RoleRef == o.RoleRef {
			return nil
		}
		err = s.checkBinding(user, q, o.RoleRef)
	case *rbacv1.ClusterRoleBinding:
		if was, ok := old.(*rbacv1.ClusterRoleBinding); ok && reflect.DeepEqual(was.Subjects, o.Subjects) && was.RoleRef == o.RoleRef {
			return nil
		}
		err = s.checkBinding(user, q, o.RoleRef)
	}
	var escalation *rbac.EscalationError
	if errors.As(err, &escalation) {
		return apierrors.NewForbidden(q.subject(), accessorOf(obj).GetName(), err)
	}
	return err
}

func (s *Server) checkClusterRole(user authenticationv1.UserInfo, q *request, role *rbacv1.ClusterRole, old runtime.Object) error {
	was, update := old.(*rbacv1.ClusterRole)
	if update && reflect.DeepEqual(was.Rules, role.Rules) && reflect.DeepEqual(was.AggregationRule, role.AggregationRule) || s.may(user, "escalate", q, role.Name) {
		return nil
	}
	everything := []rbacv1.PolicyRule{
		{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
		{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
	}
	aggregates := role.AggregationRule != nil || update && was.AggregationRule != nil
	if aggregates && s.authorizer.Covers(user, "", everything) != nil {
		return apierrors.NewForbidden(q.subject(), role.Name, errors.New("must have cluster-admin privileges to use an aggregationRule"))
	}
	return s.authorizer.Covers(user, "", role.Rules)
}

// checkBinding asks for the rights of the role that is bound.
func (s *Server) checkBinding(user authenticationv1.UserInfo, q *request, ref rbacv1.RoleRef) error {
	bind := &rbac.Attributes{User: user, Verb: "bind", Group: rbacv1.GroupName, Version: "v1", Resource: "clusterroles", Namespace: q.namespace, Name: ref.Name}
	if ref.Kind == "Role" {
		bind.Resource = "roles"
	}
	if allowed, _ := s.allowed(bind); allowed {
		return nil
	}
	rules, err := s.authorizer.RulesOf(ref, q.namespace)
	if err != nil {
		return err
	}
	return s.authorizer.Covers(user, q.namespace, rules)
}

// may tells whether a user has a verb on the object of a request.
func (s *Server) may(user authenticationv1.UserInfo, verb string, q *request, name string) bool {
	allowed, _ := s.allowed(&rbac.Attributes{
		User: user, Verb: verb, Group: q.res.Group, Version: q.res.Version, Resource: q.res.Resource, Namespace: q.namespace, Name: name,
	})
	return allowed
}
