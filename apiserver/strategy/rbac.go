package strategy

import (
	rbacv1 "k8s.io/api/rbac/v1"
)

// Role makes an empty list of rules none: what is stored knows no difference.
func Role(role, _ *rbacv1.Role) {
	if len(role.Rules) == 0 {
		role.Rules = nil
	}
}

// ClusterRole makes an empty list of rules none.
func ClusterRole(role, _ *rbacv1.ClusterRole) {
	if len(role.Rules) == 0 {
		role.Rules = nil
	}
}
