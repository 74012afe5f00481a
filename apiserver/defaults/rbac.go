package defaults

import (
	rbacv1 "k8s.io/api/rbac/v1"
)

// RoleBinding fills the API groups of role and subjects.
func RoleBinding(binding *rbacv1.RoleBinding) {
	setZero(&binding.RoleRef.APIGroup, rbacv1.GroupName)
	subjects(binding.Subjects)
}

// ClusterRoleBinding fills the API groups of role and subjects.
func ClusterRoleBinding(binding *rbacv1.ClusterRoleBinding) {
	setZero(&binding.RoleRef.APIGroup, rbacv1.GroupName)
	subjects(binding.Subjects)
}

func subjects(subjects []rbacv1.Subject) {
	for i := range subjects {
		switch subjects[i].Kind {
		case rbacv1.UserKind, rbacv1.GroupKind:
			setZero(&subjects[i].APIGroup, rbacv1.GroupName)
		}
	}
}
