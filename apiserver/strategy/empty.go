package strategy

import (
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Kubernetes stores most kinds as protobuf, which knows no empty list. Where a
// list is always shown, one that was sent empty comes back as null.

// Role makes an empty list of rules none.
func Role(role, _ *rbacv1.Role) {
	emptyIsNone(&role.Rules)
}

// ClusterRole makes an empty list of rules none.
func ClusterRole(role, _ *rbacv1.ClusterRole) {
	emptyIsNone(&role.Rules)
}

// CSINode makes an empty list of drivers none.
func CSINode(node, _ *storagev1.CSINode) {
	emptyIsNone(&node.Spec.Drivers)
}

func emptyIsNone[T any](list *[]T) {
	if len(*list) == 0 {
		*list = nil
	}
}
