// Package clusterroleaggregation fills in the rules of ClusterRoles that are
// put together from others, such as admin, edit and view.
//
//	watches     ClusterRoles
//	owns        rules of ClusterRoles with an aggregationRule
//	writes      those rules
//	invariants  rules come in the order of the roles' names, and none twice
package clusterroleaggregation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	rbaclisters "k8s.io/client-go/listers/rbac/v1"

	"github.com/kubesim/kubesim/controllers/runner"
)

// Controller reconciles ClusterRoles with an aggregation rule.
type Controller struct {
	client kubernetes.Interface
	roles  rbaclisters.ClusterRoleLister
}

// New connects the controller to its informers.
func New(env runner.Env) (runner.Controller, error) {
	roles := env.Informers.Rbac().V1().ClusterRoles()
	c := &Controller{client: env.Client, roles: roles.Lister()}
	resource := rbacv1.Resource("clusterroles")
	return runner.Controller{
		Name: "clusterrole-aggregation-controller", Resource: resource, Reconcile: c.Reconcile,
		Watches: []runner.Watch{{Resource: resource, Informer: roles.Informer(), Keys: c.aggregated}},
	}, nil
}

// aggregated names the roles that select a role, and the role itself if it selects.
func (c *Controller) aggregated(role metav1.Object) []runner.Key {
	all, err := c.roles.List(labels.Everything())
	if err != nil {
		return nil // a lister's never fails
	}
	var keys []runner.Key
	for _, other := range all {
		if other.AggregationRule == nil {
			continue
		}
		if other.Name == role.GetName() || selects(other.AggregationRule, role.GetLabels()) {
			keys = append(keys, runner.Key{Name: other.Name})
		}
	}
	return keys
}

func selects(rule *rbacv1.AggregationRule, set map[string]string) bool {
	return slices.ContainsFunc(rule.ClusterRoleSelectors, func(s metav1.LabelSelector) bool {
		selector, err := metav1.LabelSelectorAsSelector(&s)
		return err == nil && selector.Matches(labels.Set(set))
	})
}

// Reconcile fills in one role's rules.
func (c *Controller) Reconcile(ctx context.Context, key runner.Key) (time.Duration, error) {
	role, err := c.roles.Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if role.AggregationRule == nil {
		return 0, nil
	}
	all, err := c.roles.List(labels.Everything())
	if err != nil {
		return 0, err
	}
	rules, err := aggregate(role, all)
	if err != nil {
		return 0, err
	}
	if equality.Semantic.DeepEqual(rules, role.Rules) {
		return 0, nil
	}
	runner.Decide(ctx, "%d rules", len(rules))
	changed := *role
	changed.Rules = rules
	_, err = c.client.RbacV1().ClusterRoles().Update(ctx, &changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return 0, err
}

// aggregate puts together the rules of the roles that a role selects: selector
// by selector, and by name.
func aggregate(role *rbacv1.ClusterRole, all []*rbacv1.ClusterRole) ([]rbacv1.PolicyRule, error) {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b *rbacv1.ClusterRole) int { return cmp.Compare(a.Name, b.Name) })
	rules := []rbacv1.PolicyRule{}
	for i := range role.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&role.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return nil, fmt.Errorf("selector: %w", err)
		}
		for _, other := range sorted {
			if other.Name == role.Name || !selector.Matches(labels.Set(other.Labels)) {
				continue
			}
			for _, rule := range other.Rules {
				if !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(r, rule) }) {
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules, nil
}
