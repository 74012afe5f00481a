package controllers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/controllers/attachdetach"
	"github.com/kubesim/kubesim/controllers/certificates"
	"github.com/kubesim/kubesim/controllers/clusterroleaggregation"
	"github.com/kubesim/kubesim/controllers/cronjob"
	"github.com/kubesim/kubesim/controllers/daemonset"
	"github.com/kubesim/kubesim/controllers/deployment"
	"github.com/kubesim/kubesim/controllers/disruption"
	"github.com/kubesim/kubesim/controllers/endpoints"
	"github.com/kubesim/kubesim/controllers/endpointslice"
	"github.com/kubesim/kubesim/controllers/ephemeralvolume"
	"github.com/kubesim/kubesim/controllers/expand"
	"github.com/kubesim/kubesim/controllers/garbagecollector"
	"github.com/kubesim/kubesim/controllers/job"
	"github.com/kubesim/kubesim/controllers/namespace"
	"github.com/kubesim/kubesim/controllers/nodeipam"
	"github.com/kubesim/kubesim/controllers/nodelifecycle"
	"github.com/kubesim/kubesim/controllers/persistentvolume"
	"github.com/kubesim/kubesim/controllers/podautoscaler"
	"github.com/kubesim/kubesim/controllers/podgc"
	"github.com/kubesim/kubesim/controllers/protection"
	"github.com/kubesim/kubesim/controllers/replicaset"
	"github.com/kubesim/kubesim/controllers/replicationcontroller"
	"github.com/kubesim/kubesim/controllers/resourcequota"
	"github.com/kubesim/kubesim/controllers/rootca"
	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/controllers/serviceaccount"
	"github.com/kubesim/kubesim/controllers/statefulset"
	"github.com/kubesim/kubesim/controllers/tainteviction"
	"github.com/kubesim/kubesim/controllers/ttl"
	"github.com/kubesim/kubesim/controllers/ttlafterfinished"
)

// entry is one controller, under the name that kube-controller-manager's
// --controllers flag has for it.
type entry struct {
	name      string
	construct func(runner.Env) (runner.Controller, error)
}

// list is all controllers, in the order in which they start: what a namespace
// must have before its first pod, what makes pods, what follows from pods.
func list() []entry {
	return []entry{
		{"serviceaccount-controller", serviceaccount.New},
		{"clusterrole-aggregation-controller", clusterroleaggregation.New},
		{"serviceaccount-token-controller", serviceaccount.NewTokens},
		{"root-ca-certificate-publisher-controller", rootca.New},
		{"namespace-controller", namespace.New},
		{"garbage-collector-controller", garbagecollector.New},
		{"node-ipam-controller", nodeipam.New},
		{"node-lifecycle-controller", nodelifecycle.New},
		{"taint-eviction-controller", tainteviction.New},
		{"pod-garbage-collector-controller", podgc.New},
		{"ttl-controller", ttl.New},
		{"resourcequota-controller", resourcequota.New},
		{"disruption-controller", disruption.New},
		{"horizontal-pod-autoscaler-controller", podautoscaler.New},
		{"stale-pod-disruption-controller", disruption.NewStale},
		{"certificatesigningrequest-approving-controller", certificates.NewApproving},
		{"certificatesigningrequest-signing-controller", certificates.NewSigning},
		{"certificatesigningrequest-cleaner-controller", certificates.NewCleaning},
		{"deployment-controller", deployment.New},
		{"replicaset-controller", replicaset.New},
		{"replicationcontroller-controller", replicationcontroller.New},
		{"statefulset-controller", statefulset.New},
		{"daemonset-controller", daemonset.New},
		{"job-controller", job.New},
		{"cronjob-controller", cronjob.New},
		{"ttl-after-finished-controller", ttlafterfinished.New},
		{"endpoints-controller", endpoints.New},
		{"endpointslice-controller", endpointslice.New},
		{"endpointslice-mirroring-controller", endpointslice.NewMirroring},
		{"persistentvolume-binder-controller", persistentvolume.New},
		{"persistentvolumeclaim-protection-controller", protection.NewClaims},
		{"persistentvolume-protection-controller", protection.NewVolumes},
		{"volumeattributesclass-protection-controller", protection.NewClasses},
		{"ephemeral-volume-controller", ephemeralvolume.New},
		{"persistentvolume-expander-controller", expand.New},
		{"persistentvolume-attach-detach-controller", attachdetach.New},
	}
}

// Names are the controllers that run for a selection by name, as in Config.
func Names(selection []string) ([]string, error) {
	entries, err := selected(selection)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.name
	}
	return names, err
}

// selected applies names such as "*" (all but the optional ones), "name" and
// "-name" (but not this one) to the list. No names select what "*" does.
func selected(names []string) ([]entry, error) {
	all := append(list(), optional()...)
	for _, name := range names {
		known := func(e entry) bool { return e.name == strings.TrimPrefix(name, "-") }
		if name != "*" && !slices.ContainsFunc(all, known) {
			return nil, fmt.Errorf("unknown controller %q", name)
		}
	}
	everything := len(names) == 0 || slices.Contains(names, "*")
	var chosen []entry
	byDefault := len(list())
	for i, e := range all {
		if !slices.Contains(names, "-"+e.name) && (everything && i < byDefault || slices.Contains(names, e.name)) {
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}
