package rbac

import (
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	bootstrapLabel = "kubernetes.io/bootstrapping"
	bootstrapValue = "rbac-defaults"
	// AutoUpdate is the annotation without which, or with "false", a role is left
	// as its owner made it.
	AutoUpdate      = rbacv1.AutoUpdateAnnotationKey
	aggregateLabel  = "rbac.authorization.k8s.io/aggregate-to-"
	controllerRole  = "system:controller:"
	everybody       = "system:authenticated"
	nobodyKnown     = "system:unauthenticated"
	masters         = "system:masters"
	accounts        = "system:serviceaccounts"
	controllerAdmin = "system:kube-controller-manager"
	scheduler       = "system:kube-scheduler"
)

// meta is what all objects of the bootstrap policy have in common.
func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name,
		Labels:      map[string]string{bootstrapLabel: bootstrapValue},
		Annotations: map[string]string{AutoUpdate: "true"},
	}
}

// ClusterRoles are those that every cluster has.
func ClusterRoles() []*rbacv1.ClusterRole {
	roles := clusterRoles()
	controllers := controllerRoles()
	for _, name := range slices.Sorted(maps.Keys(controllers)) {
		roles = append(roles, role{name: controllerRole + name, rules: controllers[name]})
	}
	out := make([]*rbacv1.ClusterRole, len(roles))
	for i, r := range roles {
		object := &rbacv1.ClusterRole{ObjectMeta: meta("", r.name), Rules: r.rules}
		if r.to != "" {
			object.Labels[aggregateLabel+r.to] = "true"
		}
		if r.aggregates {
			object.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
				{MatchLabels: map[string]string{aggregateLabel + r.name: "true"}},
			}}
		}
		out[i] = object
	}
	return out
}

// ClusterRoleBindings are those that every cluster has. A binding is called like its role.
func ClusterRoleBindings() []*rbacv1.ClusterRoleBinding {
	bind := func(role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
		return &rbacv1.ClusterRoleBinding{
			ObjectMeta: meta("", role), Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}
	}
	out := []*rbacv1.ClusterRoleBinding{
		bind("cluster-admin", groupSubject(masters)),
		bind("system:monitoring", groupSubject("system:monitoring")),
		bind("system:discovery", groupSubject(everybody)),
		bind("system:basic-user", groupSubject(everybody)),
		bind("system:public-info-viewer", groupSubject(everybody), groupSubject(nobodyKnown)),
		bind("system:node-proxier", userSubject("system:kube-proxy")),
		bind(controllerAdmin, userSubject(controllerAdmin)),
		bind("system:kube-dns", accountSubject("kube-dns")),
		bind(scheduler, userSubject(scheduler)),
		bind("system:volume-scheduler", userSubject(scheduler)),
		bind("system:node"), // the Node authorizer decides for nodes
		bind("system:service-account-issuer-discovery", groupSubject(accounts)),
	}
	for _, name := range slices.Sorted(maps.Keys(controllerRoles())) {
		out = append(out, bind(controllerRole+name, accountSubject(name)))
	}
	return out
}

// Roles are those of namespaces that every cluster has.
func Roles() []*rbacv1.Role {
	in := func(namespace, name string, rules ...rbacv1.PolicyRule) *rbacv1.Role {
		return &rbacv1.Role{ObjectMeta: meta(namespace, name), Rules: rules}
	}
	lead := []rbacv1.PolicyRule{
		on("create update "+read, coordination, "leases"),
		on("create update "+read, coordination, "leasecandidates"),
	}
	return []*rbacv1.Role{
		in(metav1.NamespaceSystem, "extension-apiserver-authentication-reader", on(read, core, "configmaps", "extension-apiserver-authentication")),
		in(metav1.NamespaceSystem, "system::leader-locking-kube-controller-manager", lead...),
		in(metav1.NamespaceSystem, "system::leader-locking-kube-scheduler", lead...),
		in(metav1.NamespaceSystem, controllerRole+"bootstrap-signer", on(read, core, "secrets")),
		in(metav1.NamespaceSystem, controllerRole+"cloud-provider", on("create "+read, core, "configmaps")),
		in(metav1.NamespaceSystem, controllerRole+"token-cleaner", on("delete "+read, core, "secrets"), events()),
		in(metav1.NamespacePublic, controllerRole+"bootstrap-signer",
			on(read, core, "configmaps"), on("update", core, "configmaps", "cluster-info"), events()),
	}
}

// RoleBindings are those that every cluster has.
func RoleBindings() []*rbacv1.RoleBinding {
	bind := func(namespace, name, role string, subjects ...rbacv1.Subject) *rbacv1.RoleBinding {
		return &rbacv1.RoleBinding{
			ObjectMeta: meta(namespace, name), Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
		}
	}
	own := func(namespace, name string) *rbacv1.RoleBinding {
		return bind(namespace, controllerRole+name, controllerRole+name, accountSubject(name))
	}
	const system = metav1.NamespaceSystem
	return []*rbacv1.RoleBinding{
		bind(system, "system::extension-apiserver-authentication-reader", "extension-apiserver-authentication-reader",
			userSubject(controllerAdmin), userSubject(scheduler)),
		bind(system, "system::leader-locking-kube-controller-manager", "system::leader-locking-kube-controller-manager",
			userSubject(controllerAdmin), accountSubject("kube-controller-manager"), accountSubject("leader-election-controller")),
		bind(system, "system::leader-locking-kube-scheduler", "system::leader-locking-kube-scheduler",
			userSubject(scheduler), accountSubject("kube-scheduler")),
		own(system, "bootstrap-signer"),
		own(system, "cloud-provider"),
		own(system, "token-cleaner"),
		own(metav1.NamespacePublic, "bootstrap-signer"),
	}
}

func userSubject(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}
}

func groupSubject(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: name}
}

// accountSubject is a ServiceAccount of kube-system.
func accountSubject(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: name}
}
