package controllers

// accounts are the ServiceAccounts of kube-system that controllers are, where it
// is not the one of their name. None is the manager itself.
var accounts = map[string]string{
	"serviceaccount-controller":                      "service-account-controller",
	"serviceaccount-token-controller":                "",
	"root-ca-certificate-publisher-controller":       "root-ca-cert-publisher",
	"garbage-collector-controller":                   "generic-garbage-collector",
	"node-ipam-controller":                           "node-controller",
	"node-lifecycle-controller":                      "node-controller",
	"taint-eviction-controller":                      "node-controller",
	"pod-garbage-collector-controller":               "pod-garbage-collector",
	"horizontal-pod-autoscaler-controller":           "horizontal-pod-autoscaler",
	"stale-pod-disruption-controller":                "disruption-controller",
	"certificatesigningrequest-approving-controller": "certificate-controller",
	"certificatesigningrequest-signing-controller":   "certificate-controller",
	"certificatesigningrequest-cleaner-controller":   "certificate-controller",
	"replicationcontroller-controller":               "replication-controller",
	"daemonset-controller":                           "daemon-set-controller",
	"endpoints-controller":                           "endpoint-controller",
	"endpointslice-mirroring-controller":             "endpointslicemirroring-controller",
	"persistentvolume-binder-controller":             "persistent-volume-binder",
	"persistentvolumeclaim-protection-controller":    "pvc-protection-controller",
	"persistentvolume-protection-controller":         "pv-protection-controller",
	"persistentvolume-expander-controller":           "expand-controller",
	"persistentvolume-attach-detach-controller":      "attachdetach-controller",
}

// accountOf is the ServiceAccount that a controller is.
func accountOf(controller string) string {
	if account, ok := accounts[controller]; ok {
		return account
	}
	return controller
}
