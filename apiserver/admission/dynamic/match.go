package dynamic

import (
	"context"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/admission"
)

// criteria say which requests a webhook or policy is about.
type criteria struct {
	rules, except      []admissionregistrationv1.NamedRuleWithOperations
	equivalent         bool // a rule for another version of the resource counts too
	namespaces, labels labels.Selector
}

func newCriteria(rules []admissionregistrationv1.RuleWithOperations, policy *admissionregistrationv1.MatchPolicyType, namespaces, objects *metav1.LabelSelector) (*criteria, error) {
	c := &criteria{}
	for _, rule := range rules {
		c.rules = append(c.rules, admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: rule})
	}
	return c, c.complete(policy, namespaces, objects)
}

func newPolicyCriteria(m *admissionregistrationv1.MatchResources) (*criteria, error) {
	if m == nil {
		return nil, nil
	}
	c := &criteria{rules: m.ResourceRules, except: m.ExcludeResourceRules}
	return c, c.complete(m.MatchPolicy, m.NamespaceSelector, m.ObjectSelector)
}

func (c *criteria) complete(policy *admissionregistrationv1.MatchPolicyType, namespaces, objects *metav1.LabelSelector) (err error) {
	c.equivalent = policy == nil || *policy == admissionregistrationv1.Equivalent
	if c.namespaces, err = selector(namespaces); err != nil {
		return err
	}
	c.labels, err = selector(objects)
	return err
}

// selector selects everything if it is missing.
func selector(s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(s)
}

// match tells whether a request is meant, and by a rule for which version. A
// binding without rules is about all that its policy is about.
func (c *criteria) match(ctx context.Context, source Source, a *admission.Attributes, rulesNeeded bool) (gvr schema.GroupVersionResource, ok bool, err error) {
	gvr = a.GVR
	if len(c.rules) > 0 || rulesNeeded {
		if gvr, ok = c.rule(source, a); !ok {
			return gvr, false, nil
		}
	}
	for i := range c.except {
		if ruleFits(&c.except[i], a, a.GVR) {
			return gvr, false, nil
		}
	}
	if !c.labels.Empty() && !selected(c.labels, a.Object) && !selected(c.labels, a.OldObject) {
		return gvr, false, nil
	}
	ok, err = c.namespace(ctx, source, a)
	return gvr, ok, err
}

// rule finds the version of the resource that a rule is for.
func (c *criteria) rule(source Source, a *admission.Attributes) (schema.GroupVersionResource, bool) {
	versions := []schema.GroupVersionResource{a.GVR}
	if c.equivalent {
		versions = source.Versions(a.GVR)
	}
	for _, gvr := range versions {
		for i := range c.rules {
			if ruleFits(&c.rules[i], a, gvr) {
				return gvr, true
			}
		}
	}
	return a.GVR, false
}

// namespace looks at the labels of the namespace that the object is in, or is.
func (c *criteria) namespace(ctx context.Context, source Source, a *admission.Attributes) (bool, error) {
	if c.namespaces.Empty() {
		return true, nil
	}
	if a.GVR.Group == "" && a.GVR.Resource == "namespaces" {
		if a.Subresource == "" && a.Verb != admission.Delete {
			return selected(c.namespaces, a.Object), nil
		}
		return selected(c.namespaces, a.OldObject), nil
	}
	if a.Namespace == "" {
		return true, nil
	}
	ns, err := namespaceOf(ctx, source, a.Namespace)
	if err != nil {
		return false, err
	}
	return c.namespaces.Matches(labels.Set(ns.Labels)), nil
}

func selected(s labels.Selector, obj runtime.Object) bool {
	m := metaOf(obj)
	return m != nil && s.Matches(labels.Set(m.GetLabels()))
}

// ruleFits compares a rule with a request on a version of its resource.
func ruleFits(rule *admissionregistrationv1.NamedRuleWithOperations, a *admission.Attributes, gvr schema.GroupVersionResource) bool {
	return fits(rule.Operations, admissionregistrationv1.OperationType(a.Verb)) &&
		fits(rule.APIGroups, gvr.Group) && fits(rule.APIVersions, gvr.Version) &&
		resourceFits(rule.Resources, gvr.Resource, a.Subresource) && scopeFits(rule.Scope, a) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.Name))
}

func fits[T ~string](list []T, want T) bool {
	return slices.Contains(list, "*") || slices.Contains(list, want)
}

// resourceFits reads RESOURCE, RESOURCE/SUBRESOURCE and * for either.
func resourceFits(list []string, resource, subresource string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		r, sub, _ := strings.Cut(pattern, "/")
		return (r == "*" || r == resource) && (sub == "*" || sub == subresource)
	})
}

func scopeFits(scope *admissionregistrationv1.ScopeType, a *admission.Attributes) bool {
	if scope == nil || *scope == admissionregistrationv1.AllScopes {
		return true
	}
	namespaced := a.Namespace != "" && a.GVR.Resource != "namespaces"
	return namespaced == (*scope == admissionregistrationv1.NamespacedScope)
}
