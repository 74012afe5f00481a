package validation

import (
	rbacv1 "k8s.io/api/rbac/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Role holds the rules of rbac.authorization.k8s.io/v1 Roles.
func Role(r, old *rbacv1.Role) field.ErrorList {
	return concat(roleMeta(&r.ObjectMeta, metaOf(old), namespaced, each(r.Rules, field.NewPath("rules"), func(rule *rbacv1.PolicyRule, p *field.Path) field.ErrorList {
		return policyRule(rule, true, p)
	})), ruleVerbs(r.Rules))
}

// ClusterRole holds the rules of rbac.authorization.k8s.io/v1 ClusterRoles.
func ClusterRole(r, old *rbacv1.ClusterRole) field.ErrorList {
	rules := each(r.Rules, field.NewPath("rules"), func(rule *rbacv1.PolicyRule, p *field.Path) field.ErrorList {
		return policyRule(rule, false, p)
	})
	return concat(roleMeta(&r.ObjectMeta, metaOf(old), clusterScoped, append(rules, aggregation(r.AggregationRule)...)), ruleVerbs(r.Rules))
}

// roleMeta puts an object's own errors between those of its metadata and those
// of their change.
func roleMeta(meta, old *metav1.ObjectMeta, isNamespaced bool, own field.ErrorList) field.ErrorList {
	errs := append(metaCreate(meta, isNamespaced, path.ValidatePathSegmentName), own...)
	if old != nil {
		errs = append(errs, metaUpdate(meta, old)...)
	}
	return errs
}

func policyRule(r *rbacv1.PolicyRule, inNamespace bool, p *field.Path) field.ErrorList {
	if len(r.NonResourceURLs) > 0 {
		at := p.Child("nonResourceURLs")
		return concat(
			refuse(inNamespace, field.Invalid(at, r.NonResourceURLs, "namespaced rules cannot apply to non-resource URLs")),
			refuse(len(r.APIGroups)+len(r.Resources)+len(r.ResourceNames) > 0,
				field.Invalid(at, r.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs")))
	}
	return concat(
		refuse(len(r.APIGroups) == 0, field.Required(p.Child("apiGroups"), "resource rules must supply at least one api group")),
		refuse(len(r.Resources) == 0, field.Required(p.Child("resources"), "resource rules must supply at least one resource")))
}

// ruleVerbs stands apart since Kubernetes declares it on the type, and looks at it last.
func ruleVerbs(rules []rbacv1.PolicyRule) field.ErrorList {
	return each(rules, field.NewPath("rules"), func(r *rbacv1.PolicyRule, p *field.Path) field.ErrorList {
		return refuse(len(r.Verbs) == 0, field.Required(p.Child("verbs"), ""))
	})
}

func aggregation(a *rbacv1.AggregationRule) field.ErrorList {
	if a == nil {
		return nil
	}
	p := field.NewPath("aggregationRule", "clusterRoleSelectors")
	return append(refuse(len(a.ClusterRoleSelectors) == 0, field.Required(p, "at least one clusterRoleSelector required if aggregationRule is non-nil")),
		each(a.ClusterRoleSelectors, p, func(s *metav1.LabelSelector, p *field.Path) field.ErrorList {
			_, err := metav1.LabelSelectorAsSelector(s)
			return append(labelSelector(s, p), refuse(err != nil, field.Invalid(p, nil, "invalid label selector."))...)
		})...)
}

// RoleBinding holds the rules of rbac.authorization.k8s.io/v1 RoleBindings.
func RoleBinding(b, old *rbacv1.RoleBinding) field.ErrorList {
	own := concat(roleRef(&b.RoleRef, "Role", "ClusterRole"),
		each(b.Subjects, field.NewPath("subjects"), func(s *rbacv1.Subject, p *field.Path) field.ErrorList { return subject(s, true, p) }))
	errs := roleMeta(&b.ObjectMeta, metaOf(old), namespaced, own)
	if old != nil {
		errs = append(errs, sameRole(b.RoleRef, old.RoleRef)...)
	}
	return append(errs, bindingNames(b.Subjects, &b.RoleRef)...)
}

// ClusterRoleBinding holds the rules of rbac.authorization.k8s.io/v1 ClusterRoleBindings.
func ClusterRoleBinding(b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
	own := concat(roleRef(&b.RoleRef, "ClusterRole"),
		each(b.Subjects, field.NewPath("subjects"), func(s *rbacv1.Subject, p *field.Path) field.ErrorList { return subject(s, false, p) }))
	errs := roleMeta(&b.ObjectMeta, metaOf(old), clusterScoped, own)
	if old != nil {
		errs = append(errs, sameRole(b.RoleRef, old.RoleRef)...)
	}
	return append(errs, bindingNames(b.Subjects, &b.RoleRef)...)
}

func sameRole(now, old rbacv1.RoleRef) field.ErrorList {
	return refuse(now != old, field.Invalid(field.NewPath("roleRef"), byFieldName(now), "cannot change roleRef"))
}

func roleRef(r *rbacv1.RoleRef, kinds ...string) field.ErrorList {
	p := field.NewPath("roleRef")
	errs := concat(supported(r.APIGroup, p.Child("apiGroup"), rbacv1.GroupName), supported(r.Kind, p.Child("kind"), kinds...))
	if r.Name == "" {
		return errs
	}
	return append(errs, named(r.Name, p.Child("name"), path.ValidatePathSegmentName)...)
}

func subject(s *rbacv1.Subject, inNamespace bool, p *field.Path) field.ErrorList {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		var errs field.ErrorList
		if s.Name != "" {
			errs = named(s.Name, p.Child("name"), apivalidation.ValidateServiceAccountName)
		}
		return concat(errs, supported(s.APIGroup, p.Child("apiGroup"), ""),
			refuse(!inNamespace && s.Namespace == "", field.Required(p.Child("namespace"), "")))
	case rbacv1.UserKind, rbacv1.GroupKind:
		return supported(s.APIGroup, p.Child("apiGroup"), rbacv1.GroupName)
	}
	return field.ErrorList{field.NotSupported(p.Child("kind"), s.Kind, []string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind})}
}

func bindingNames(subjects []rbacv1.Subject, r *rbacv1.RoleRef) field.ErrorList {
	return append(each(subjects, field.NewPath("subjects"), func(s *rbacv1.Subject, p *field.Path) field.ErrorList {
		return required(s.Name, p.Child("name"))
	}), required(r.Name, field.NewPath("roleRef", "name"))...)
}
