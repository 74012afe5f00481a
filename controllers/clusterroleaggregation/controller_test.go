package clusterroleaggregation

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAggregate(t *testing.T) {
	role := func(name, label string, resources ...string) *rbacv1.ClusterRole {
		r := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: "true"}}}
		for _, resource := range resources {
			r.Rules = append(r.Rules, rbacv1.PolicyRule{Resources: []string{resource}, Verbs: []string{"get"}})
		}
		return r
	}
	whole := role("whole", "x", "old")
	whole.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
		{MatchLabels: map[string]string{"y": "true"}}, {MatchLabels: map[string]string{"x": "true"}},
	}}
	rules, err := aggregate(whole, []*rbacv1.ClusterRole{role("b", "x", "pods", "jobs"), whole, role("a", "x", "nodes", "pods"), role("z", "y", "jobs"), role("n", "other", "secrets")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rule := range rules {
		got = append(got, rule.Resources...)
	}
	if strings.Join(got, " ") != "jobs nodes pods" {
		t.Errorf("rules for %v", got)
	}
}
