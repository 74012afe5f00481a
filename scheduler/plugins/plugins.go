// Package plugins names all plugins of the scheduler, each of which has a
// folder of its own here.
package plugins

import (
	"time"

	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins/imagelocality"
	"github.com/kubesim/kubesim/scheduler/plugins/interpodaffinity"
	"github.com/kubesim/kubesim/scheduler/plugins/nodeaffinity"
	"github.com/kubesim/kubesim/scheduler/plugins/nodename"
	"github.com/kubesim/kubesim/scheduler/plugins/nodeports"
	"github.com/kubesim/kubesim/scheduler/plugins/noderesources"
	"github.com/kubesim/kubesim/scheduler/plugins/nodeunschedulable"
	"github.com/kubesim/kubesim/scheduler/plugins/nodevolumelimits"
	"github.com/kubesim/kubesim/scheduler/plugins/podtopologyspread"
	"github.com/kubesim/kubesim/scheduler/plugins/schedulinggates"
	"github.com/kubesim/kubesim/scheduler/plugins/tainttoleration"
	"github.com/kubesim/kubesim/scheduler/plugins/volumebinding"
	"github.com/kubesim/kubesim/scheduler/plugins/volumerestrictions"
	"github.com/kubesim/kubesim/scheduler/plugins/volumezone"
)

// Row is a plugin with its place in a profile.
type Row struct {
	Plugin framework.Plugin
	// Weight of the plugin's score; 0 if it has none.
	Weight int64
	// Local says that filter and score look at nothing but the node and what
	// PodInfo.Signature covers, so that alike pods share the verdict for as
	// long as the node does not change.
	Local bool
	// Off are the extension points at which the plugin does not run.
	Off Point
}

// Default returns the default profile of kube-scheduler with its weights.
func Default(handle framework.Handle) []Row {
	set, err := For(handle, &configv1.KubeSchedulerProfile{})
	if err != nil {
		panic(err) // nothing was asked for that could be wrong
	}
	return set.Rows
}

// build makes all plugins. The order matters: a node is rejected for the first
// reason found.
func build(handle framework.Handle, a *args) []Row {
	return []Row{
		{Plugin: schedulinggates.Plugin{}},
		{Plugin: nodeunschedulable.Plugin{}, Local: true},
		{Plugin: nodename.Plugin{}, Local: true},
		{Plugin: tainttoleration.Plugin{}, Weight: 3, Local: true},
		{Plugin: nodeaffinity.Plugin{Added: a.affinity.AddedAffinity}, Weight: 2, Local: true},
		{Plugin: nodeports.Plugin{}, Local: true},
		{Plugin: noderesources.Fit{
			Strategy: a.strategy(), Ignored: a.fit.IgnoredResources, IgnoredGroups: a.fit.IgnoredResourceGroups,
		}, Weight: 1, Local: true},
		{Plugin: volumerestrictions.Plugin{Claims: handle.Claims}},
		{Plugin: nodevolumelimits.Plugin{Handle: handle}},
		{Plugin: volumebinding.New(handle, time.Duration(*a.volumes.BindTimeoutSeconds)*time.Second)},
		{Plugin: volumezone.Plugin{Handle: handle}},
		{Plugin: podtopologyspread.New(handle).WithDefaults(a.spreadDefaults()), Weight: 2},
		{Plugin: interpodaffinity.Plugin{
			Handle: handle, HardWeight: a.podAffinity.HardPodAffinityWeight, OwnOnly: a.podAffinity.IgnorePreferredTermsOfExistingPods,
		}, Weight: 2},
		{Plugin: noderesources.BalancedAllocation{Resources: a.balancedResources()}, Weight: 1, Local: true},
		{Plugin: imagelocality.Plugin{}, Weight: 1},
	}
}
