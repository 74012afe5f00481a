package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Words that stand for several verbs.
const (
	read      = "get list watch"
	write     = "create delete deletecollection patch update"
	readWrite = read + " " + write
	all       = "*"
)

// core is the group without a name.
const core = "core"

// role is one that every cluster has.
type role struct {
	name string
	// aggregates is true for a role whose rules the ClusterRole aggregation
	// controller collects from those labelled aggregate-to-NAME.
	aggregates bool
	// to is the role that this one is labelled to be collected into.
	to    string
	rules []rbacv1.PolicyRule
}

// on makes a rule from lists of words: verbs on resources of groups, or only on
// those with the names.
func on(verbs, groups, resources string, names ...string) rbacv1.PolicyRule {
	in := strings.Fields(groups)
	for i, group := range in {
		if group == core {
			in[i] = ""
		}
	}
	return rbacv1.PolicyRule{Verbs: words(verbs), APIGroups: sorted(in), Resources: words(resources), ResourceNames: names}
}

// paths makes a rule for what is no resource.
func paths(paths string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: words(paths)}
}

func words(s string) []string { return sorted(strings.Fields(s)) }

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// events lets a component tell what it did.
func events() rbacv1.PolicyRule { return on("create patch update", "core events.k8s.io", "events") }

const (
	authenticationGroup = "authentication.k8s.io"
	authorizationGroup  = "authorization.k8s.io"
	certificates        = "certificates.k8s.io"
	coordination        = "coordination.k8s.io"
	discovery           = "discovery.k8s.io"
	networking          = "networking.k8s.io"
	rbacGroup           = "rbac.authorization.k8s.io"
	devices             = "resource.k8s.io"
	storage             = "storage.k8s.io"
)

// clusterRoles are the roles of users and of the components that are not controllers.
func clusterRoles() []role {
	return slices.Concat(userRoles(), systemRoles(), nodeRoles(), approverRoles())
}

// userRoles are those meant to be bound to people.
func userRoles() []role {
	return []role{
		{name: "cluster-admin", rules: []rbacv1.PolicyRule{on(all, all, all), {Verbs: []string{all}, NonResourceURLs: []string{all}}}},
		{name: "admin", aggregates: true},
		{name: "edit", aggregates: true, to: "admin"},
		{name: "view", aggregates: true, to: "edit"},
		{name: "system:aggregate-to-admin", to: "admin", rules: []rbacv1.PolicyRule{
			on("create", authorizationGroup, "localsubjectaccessreviews"),
			on(readWrite, rbacGroup, "roles rolebindings"),
		}},
		{name: "system:aggregate-to-edit", to: "edit", rules: []rbacv1.PolicyRule{
			on(read, core, "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
			on("impersonate", core, "serviceaccounts"),
			on(write, core, "pods pods/attach pods/exec pods/portforward pods/proxy"),
			on("create", core, "pods/eviction"),
			on(write, core, "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy"),
			on("create", core, "serviceaccounts/token"),
			on(write, "core events.k8s.io", "events"),
			on(write, "apps", "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale"),
			on(write, "autoscaling", "horizontalpodautoscalers"),
			on(write, "batch", "cronjobs jobs"),
			on(write, "extensions", "daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale"),
			on(write, "policy", "poddisruptionbudgets"),
			on(write, networking, "ingresses networkpolicies"),
			on(readWrite, coordination, "leases"),
			on(write, devices, "resourceclaims resourceclaimtemplates"),
		}},
		{name: "system:aggregate-to-view", to: "view", rules: []rbacv1.PolicyRule{
			on(read, core, "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status"),
			on(read, core, "bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status"),
			on(read, core, "namespaces"),
			on(read, "core events.k8s.io", "events"),
			on(read, discovery, "endpointslices"),
			on(read, "apps", "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status"),
			on(read, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
			on(read, "batch", "cronjobs cronjobs/status jobs jobs/status"),
			on(read, "extensions", "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale"),
			on(read, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
			on(read, networking, "ingresses ingresses/status networkpolicies"),
			on(read, devices, "resourceclaims resourceclaims/status resourceclaimtemplates"),
		}},
		{name: "system:basic-user", rules: []rbacv1.PolicyRule{
			on("create", authorizationGroup, "selfsubjectaccessreviews selfsubjectrulesreviews"),
			on("create", authenticationGroup, "selfsubjectreviews"),
		}},
		{name: "system:discovery", rules: []rbacv1.PolicyRule{
			paths("/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/"),
		}},
		{name: "system:public-info-viewer", rules: []rbacv1.PolicyRule{paths("/healthz /livez /readyz /version /version/")}},
		{name: "system:monitoring", rules: []rbacv1.PolicyRule{
			paths("/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz /flagz"),
		}},
		{name: "system:service-account-issuer-discovery", rules: []rbacv1.PolicyRule{
			paths("/.well-known/openid-configuration /openid/v1/jwks"),
		}},
	}
}

// systemRoles are those of components and add-ons.
func systemRoles() []role {
	return []role{
		{name: "system:auth-delegator", rules: []rbacv1.PolicyRule{
			on("create", authenticationGroup, "tokenreviews"),
			on("create", authorizationGroup, "subjectaccessreviews"),
		}},
		{name: "system:heapster", rules: []rbacv1.PolicyRule{
			on(read, core, "events namespaces nodes pods"),
			on(read, "extensions", "deployments"),
		}},
		{name: "system:kube-aggregator", rules: []rbacv1.PolicyRule{on(read, core, "endpoints services")}},
		{name: "system:kube-controller-manager", rules: []rbacv1.PolicyRule{
			events(),
			on("create", coordination, "leases"),
			on("get update", coordination, "leases", "kube-controller-manager"),
			on("create", core, "secrets serviceaccounts"),
			on("delete", core, "secrets"),
			on("get", core, "configmaps namespaces secrets serviceaccounts"),
			on("update", core, "secrets serviceaccounts"),
			on("create", authenticationGroup, "tokenreviews"),
			on("create", authorizationGroup, "subjectaccessreviews"),
			on("list watch", all, all),
			on("create", core, "serviceaccounts/token"),
		}},
		{name: "system:kube-dns", rules: []rbacv1.PolicyRule{on("list watch", core, "endpoints services")}},
		{name: "system:kube-scheduler", rules: []rbacv1.PolicyRule{
			events(),
			on("create", coordination, "leases"),
			on("get update", coordination, "leases", "kube-scheduler"),
			on(read, core, "nodes"),
			on("delete "+read, core, "pods"),
			on("create", core, "bindings pods/binding"),
			on("patch update", core, "pods/status"),
			on(read, core, "replicationcontrollers services"),
			on(read, "apps extensions", "replicasets"),
			on(read, "apps", "statefulsets"),
			on(read, "policy", "poddisruptionbudgets"),
			on(read, core, "persistentvolumeclaims persistentvolumes"),
			on("create", authenticationGroup, "tokenreviews"),
			on("create", authorizationGroup, "subjectaccessreviews"),
			on(read, storage, "csinodes"),
			on(read, core, "namespaces"),
			on(read, storage, "csidrivers"),
			on(read, storage, "csistoragecapacities"),
			on(read, storage, "volumeattachments"),
			on(read, devices, "deviceclasses"),
			on("create delete patch update "+read, devices, "resourceclaims"),
			on("patch update", devices, "resourceclaims/status"),
			on(read, devices, "resourceslices"),
			on("update", core, "pods/finalizers"),
		}},
		{name: "system:persistent-volume-provisioner", rules: []rbacv1.PolicyRule{
			on("create delete "+read, core, "persistentvolumes"),
			on("update "+read, core, "persistentvolumeclaims"),
			on(read, storage, "storageclasses"),
			on("watch", core, "events"),
			events(),
		}},
		{name: "system:volume-scheduler", rules: []rbacv1.PolicyRule{
			on("patch update "+read, core, "persistentvolumes"),
			on(read, storage, "storageclasses"),
			on("patch update "+read, core, "persistentvolumeclaims"),
		}},
	}
}

// nodeRoles are those of what runs on nodes.
func nodeRoles() []role {
	return []role{
		{name: "system:kubelet-api-admin", rules: []rbacv1.PolicyRule{
			on(read, core, "nodes"),
			on("proxy", core, "nodes"),
			on(all, core, "nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods nodes/proxy nodes/stats"),
		}},
		{name: "system:node", rules: []rbacv1.PolicyRule{
			on("create", authenticationGroup, "tokenreviews"),
			on("create", authorizationGroup, "localsubjectaccessreviews subjectaccessreviews"),
			on(read, core, "services"),
			on("create "+read, core, "nodes"),
			on("patch update", core, "nodes/status"),
			on("patch update", core, "nodes"),
			events(),
			on(read, core, "pods"),
			on("create delete", core, "pods"),
			on("patch update", core, "pods/status"),
			on("create", core, "pods/eviction"),
			on(read, core, "configmaps secrets"),
			on("get", core, "persistentvolumeclaims persistentvolumes"),
			on("get", core, "endpoints"),
			on("create "+read, certificates, "certificatesigningrequests"),
			on("create delete get patch update", coordination, "leases"),
			on("get", storage, "volumeattachments"),
			on("create", core, "serviceaccounts/token"),
			on("get patch update", core, "persistentvolumeclaims/status"),
			on(read, storage, "csidrivers"),
			on("create delete get patch update", storage, "csinodes"),
			on(read, "node.k8s.io", "runtimeclasses"),
			on("get", devices, "resourceclaims"),
			on("deletecollection "+read, devices, "resourceslices"),
			on("create delete patch update", devices, "resourceslices"),
		}},
		{name: "system:node-bootstrapper", rules: []rbacv1.PolicyRule{on("create "+read, certificates, "certificatesigningrequests")}},
		{name: "system:node-problem-detector", rules: []rbacv1.PolicyRule{
			on("get", core, "nodes"),
			on("patch", core, "nodes/status"),
			events(),
		}},
		{name: "system:node-proxier", rules: []rbacv1.PolicyRule{
			on("list watch", core, "endpoints services"),
			on(read, core, "nodes"),
			events(),
			on("list watch", discovery, "endpointslices"),
			on("list watch", networking, "servicecidrs"),
		}},
	}
}

// approverRoles let their holders approve certificates, each of one signer.
func approverRoles() []role {
	roles := []role{
		{
			name:  "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
			rules: []rbacv1.PolicyRule{on("create", certificates, "certificatesigningrequests/nodeclient")},
		},
		{
			name:  "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
			rules: []rbacv1.PolicyRule{on("create", certificates, "certificatesigningrequests/selfnodeclient")},
		},
	}
	for _, signer := range []string{"kube-apiserver-client", "kube-apiserver-client-kubelet", "kubelet-serving", "legacy-unknown"} {
		roles = append(roles, role{
			name:  "system:certificates.k8s.io:" + signer + "-approver",
			rules: []rbacv1.PolicyRule{on("approve", certificates, "signers", "kubernetes.io/"+signer)},
		})
	}
	return roles
}
