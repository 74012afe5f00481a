package apiserver

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/kubesim/kubesim/apiserver/kinds"
	"github.com/kubesim/kubesim/apiserver/rbac"
)

// policyWriters is how many objects of the bootstrap policy are written at a time.
const policyWriters = 32

// bootstrapPolicy creates the roles and bindings that every cluster has, and adds
// what those of an earlier start lack, unless they say that they are not to be updated.
func (s *Server) bootstrapPolicy(ctx context.Context) error {
	writers, ctx := errgroup.WithContext(ctx)
	writers.SetLimit(policyWriters)
	ensure := func(resource string, obj runtime.Object) {
		writers.Go(func() error { return s.ensurePolicy(ctx, resource, obj) })
	}
	for _, o := range rbac.ClusterRoles() {
		ensure("clusterroles", o)
	}
	for _, o := range rbac.ClusterRoleBindings() {
		ensure("clusterrolebindings", o)
	}
	for _, o := range rbac.Roles() {
		ensure("roles", o)
	}
	for _, o := range rbac.RoleBindings() {
		ensure("rolebindings", o)
	}
	return writers.Wait()
}

func (s *Server) ensurePolicy(ctx context.Context, resource string, want runtime.Object) error {
	gvr := rbacv1.SchemeGroupVersion.WithResource(resource)
	m := accessorOf(want)
	q, err := s.ownRequest(ctx, gvr, m.GetNamespace(), m.GetName())
	if err != nil {
		return err
	}
	e := s.cache.Resource(q.res.prefix).Get(q.res.key(q.namespace, q.name))
	if e == nil {
		_, err := s.createObject(ctx, q, want)
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	have, err := s.codec.shared(q.res, e)
	if err != nil {
		return err
	}
	if merged, changed := mergePolicy(have, want); !changed || merged == nil {
		return nil
	}
	q.verb, q.sub = "update", kinds.Subresource{}
	_, err = s.mutate(ctx, q, func(old runtime.Object) (runtime.Object, error) {
		merged, _ := mergePolicy(old, want)
		if merged == nil {
			merged = old
		}
		return merged, nil
	})
	return err
}

// mergePolicy is what is there with all that every cluster has; nil for one that
// is not to be updated.
func mergePolicy(have, want runtime.Object) (merged runtime.Object, changed bool) {
	if accessorOf(have).GetAnnotations()[rbac.AutoUpdate] == "false" {
		return nil, false
	}
	merged = have.DeepCopyObject()
	m, w := accessorOf(merged), accessorOf(want)
	m.SetLabels(withAll(m.GetLabels(), w.GetLabels()))
	m.SetAnnotations(withAll(m.GetAnnotations(), w.GetAnnotations()))
	switch o := merged.(type) {
	case *rbacv1.ClusterRole:
		w := want.(*rbacv1.ClusterRole)
		if w.AggregationRule == nil {
			o.Rules = withRules(o.Rules, w.Rules)
		} else {
			o.AggregationRule = w.AggregationRule
		}
	case *rbacv1.Role:
		o.Rules = withRules(o.Rules, want.(*rbacv1.Role).Rules)
	case *rbacv1.ClusterRoleBinding:
		o.Subjects = withSubjects(o.Subjects, want.(*rbacv1.ClusterRoleBinding).Subjects)
	case *rbacv1.RoleBinding:
		o.Subjects = withSubjects(o.Subjects, want.(*rbacv1.RoleBinding).Subjects)
	default:
		panic(fmt.Sprintf("%T is no RBAC object", o))
	}
	return merged, !reflect.DeepEqual(have, merged)
}

func withAll(have, want map[string]string) map[string]string {
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, want)
	return out
}

func withRules(have, want []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	_, missing := validation.Covers(have, want)
	return append(slices.Clip(have), missing...)
}

func withSubjects(have, want []rbacv1.Subject) []rbacv1.Subject {
	for _, subject := range want {
		if !slices.Contains(have, subject) {
			have = append(slices.Clip(have), subject)
		}
	}
	return have
}
