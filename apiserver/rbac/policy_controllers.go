package rbac

import rbacv1 "k8s.io/api/rbac/v1"

const changes = "create delete patch update " + read

// controllerRoles are what each controller may do, as the ServiceAccount of its
// name in kube-system. The role is called system:controller:NAME.
func controllerRoles() map[string][]rbacv1.PolicyRule {
	type rules = []rbacv1.PolicyRule
	roles := map[string]rules{
		"attachdetach-controller": {
			on("list watch", core, "persistentvolumeclaims persistentvolumes"),
			on(read, core, "nodes"),
			on("patch update", core, "nodes/status"),
			on("list watch", core, "pods"),
			events(),
			on("create delete "+read, storage, "volumeattachments"),
			on(read, storage, "csidrivers"),
			on(read, storage, "csinodes"),
		},
		"certificate-controller": {
			on("delete "+read, certificates, "certificatesigningrequests"),
			on("update", certificates, "certificatesigningrequests/approval certificatesigningrequests/status"),
			on("approve", certificates, "signers", "kubernetes.io/kube-apiserver-client-kubelet"),
			on("sign", certificates, "signers", "kubernetes.io/kube-apiserver-client",
				"kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving", "kubernetes.io/legacy-unknown"),
			on("create", authorizationGroup, "subjectaccessreviews"),
			events(),
		},
		"clusterrole-aggregation-controller": {on("escalate patch update "+read, rbacGroup, "clusterroles")},
		"cronjob-controller": {
			on("update "+read, "batch", "cronjobs"),
			on(changes, "batch", "jobs"),
			on("update", "batch", "cronjobs/status"),
			on("update", "batch", "cronjobs/finalizers"),
			on("delete list watch", core, "pods"),
			events(),
		},
		"daemon-set-controller": {
			on(read, "apps extensions", "daemonsets"),
			on("update", "apps extensions", "daemonsets/status"),
			on("update", "apps extensions", "daemonsets/finalizers"),
			on("list watch", core, "nodes"),
			on("create delete list patch watch", core, "pods"),
			on("create", core, "pods/binding"),
			on(changes, "apps", "controllerrevisions"),
			events(),
		},
		"deployment-controller": {
			on("update "+read, "apps extensions", "deployments"),
			on("update", "apps extensions", "deployments/status"),
			on("update", "apps extensions", "deployments/finalizers"),
			on(changes, "apps extensions", "replicasets"),
			on("update "+read, core, "pods"),
			events(),
		},
		"device-taint-eviction-controller": {
			on("delete "+read, core, "pods"),
			on("patch update", core, "pods/status"),
			on(read, devices, "resourceclaims"),
			on(read, devices, "resourceslices"),
			on(read, devices, "deviceclasses"),
			events(),
		},
		"disruption-controller": {
			on(read, "apps extensions", "deployments"),
			on(read, "apps extensions", "replicasets"),
			on(read, core, "replicationcontrollers"),
			on(read, "policy", "poddisruptionbudgets"),
			on(read, "apps", "statefulsets"),
			on("update", "policy", "poddisruptionbudgets/status"),
			on("patch update", core, "pods/status"),
			on("get", all, "*/scale"),
			events(),
		},
		"endpoint-controller": {
			on(read, core, "pods services"),
			on("create delete update "+read, core, "endpoints"),
			on("create", core, "endpoints/restricted"),
			events(),
		},
		"endpointslice-controller": {
			on(read, core, "nodes pods services"),
			on("update", core, "services/finalizers"),
			on("create delete update "+read, discovery, "endpointslices"),
			events(),
		},
		"endpointslicemirroring-controller": {
			on(read, core, "endpoints services"),
			on("update", core, "services/finalizers"),
			on("update", core, "endpoints/finalizers"),
			on("create delete update "+read, discovery, "endpointslices"),
			events(),
		},
		"ephemeral-volume-controller": {
			on(read, core, "pods"),
			on("update", core, "pods/finalizers"),
			on("create "+read, core, "persistentvolumeclaims"),
			events(),
		},
		"expand-controller": {
			on("patch update "+read, core, "persistentvolumes"),
			on("patch update", core, "persistentvolumeclaims/status"),
			on(read, core, "persistentvolumeclaims"),
			events(),
		},
		"generic-garbage-collector": {on("delete patch update "+read, all, all), events()},
		"horizontal-pod-autoscaler": {
			on(read, "autoscaling", "horizontalpodautoscalers"),
			on("update", "autoscaling", "horizontalpodautoscalers/status"),
			on("get update", all, "*/scale"),
			on("list watch", core, "pods"),
			on("list watch", "metrics.k8s.io", "pods"),
			on(read, "custom.metrics.k8s.io", all),
			on(read, "external.metrics.k8s.io", all),
			events(),
		},
		"job-controller": {
			on("patch update "+read, "batch", "jobs"),
			on("update", "batch", "jobs/status"),
			on("update", "batch", "jobs/finalizers"),
			on("create delete list patch watch", core, "pods"),
			events(),
		},
		"legacy-service-account-token-cleaner": {
			on("get", core, "configmaps", "kube-apiserver-legacy-service-account-token-tracking"),
			on("delete patch", core, "secrets"),
		},
		"namespace-controller": {
			on("delete "+read, core, "namespaces"),
			on("update", core, "namespaces/finalize namespaces/status"),
			on("delete deletecollection "+read, all, all),
		},
		"node-controller": {
			on("delete patch update "+read, core, "nodes"),
			on("patch update", core, "nodes/status"),
			on("patch update", core, "pods/status"),
			on("delete "+read, core, "pods"),
			events(),
		},
		"persistent-volume-binder": {
			on("create delete update "+read, core, "persistentvolumes"),
			on("update", core, "persistentvolumes/status"),
			on("update "+read, core, "persistentvolumeclaims"),
			on("update", core, "persistentvolumeclaims/status"),
			on("create delete "+read, core, "pods"),
			on(read, storage, "storageclasses"),
			on("list watch", core, "nodes"),
			events(),
			on("watch", core, "events"),
		},
		"pod-garbage-collector": {
			on("delete list watch", core, "pods"),
			on(read, core, "nodes"),
			on("patch", core, "pods/status"),
		},
		"pv-protection-controller": {on("update "+read, core, "persistentvolumes"), events()},
		"pvc-protection-controller": {
			on("update "+read, core, "persistentvolumeclaims"),
			on("update", core, "persistentvolumeclaims/status"),
			on(read, core, "pods"),
			events(),
		},
		"replicaset-controller":  replicaRules("apps extensions", "replicasets"),
		"replication-controller": replicaRules(core, "replicationcontrollers"),
		"resource-claim-controller": {
			on(read, core, "pods"),
			on("update", core, "pods/finalizers"),
			on("create delete "+read, devices, "resourceclaims"),
			on("patch update", devices, "resourceclaims resourceclaims/status"),
			on("patch update", core, "pods/status"),
			events(),
		},
		"resourcequota-controller": {
			on("list watch", all, all),
			on("update", core, "resourcequotas/status"),
			events(),
		},
		"root-ca-cert-publisher": {on("create update", core, "configmaps"), events()},
		"route-controller": {
			on("list watch", core, "nodes"),
			on("patch", core, "nodes/status"),
			events(),
		},
		"selinux-warning-controller": {
			events(),
			on(read, core, "persistentvolumes"),
			on(read, core, "persistentvolumeclaims"),
			on(read, core, "pods"),
			on(read, storage, "csidrivers"),
		},
		"service-account-controller": {on("create", core, "serviceaccounts"), events()},
		"service-cidrs-controller": {
			on("patch update "+read, networking, "servicecidrs"),
			on("patch update", networking, "servicecidrs/finalizers"),
			on("patch update", networking, "servicecidrs/status"),
			on(read, networking, "ipaddresses"),
			events(),
		},
		"service-controller": {
			on(read, core, "services"),
			on("patch update", core, "services/status"),
			on("list watch", core, "nodes"),
			events(),
		},
		"statefulset-controller": {
			on("list watch", core, "pods"),
			on(read, "apps", "statefulsets"),
			on("update", "apps", "statefulsets/status"),
			on("update", "apps", "statefulsets/finalizers"),
			on("create delete get patch update", core, "pods"),
			on(changes, "apps", "controllerrevisions"),
			on("create "+read, core, "persistentvolumeclaims"),
			on("delete update", core, "persistentvolumeclaims"),
			on("update", core, "pods/finalizers"),
			events(),
		},
		"ttl-after-finished-controller": {on("delete "+read, "batch", "jobs"), events()},
		"ttl-controller":                {on("list patch update watch", core, "nodes"), events()},
		"validatingadmissionpolicy-status-controller": {
			on(read, "admissionregistration.k8s.io", "validatingadmissionpolicies"),
			on("get patch update", "admissionregistration.k8s.io", "validatingadmissionpolicies/status"),
			events(),
		},
		"volumeattributesclass-protection-controller": {
			on(read, core, "persistentvolumeclaims"),
			on(read, core, "persistentvolumes"),
			on("update "+read, storage, "volumeattributesclasses"),
			events(),
		},
	}
	return roles
}

// replicaRules are for a controller that keeps a number of pods.
func replicaRules(groups, resource string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		on("update "+read, groups, resource),
		on("update", groups, resource+"/status"),
		on("update", groups, resource+"/finalizers"),
		on("create delete list patch watch", core, "pods"),
		events(),
	}
}
