// Package podtopologyspread spreads pods evenly over the domains of topology
// labels: constraints of a pod with DoNotSchedule filter, those with
// ScheduleAnyway score. Pods of a Service or a controller without constraints
// of their own are spread over nodes and zones by preference.
//
// The number of matching pods by domain is kept from one attempt to the next
// (see tally): counting them anew would mean to look at all pods of the
// cluster for each replica.
package podtopologyspread

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "PodTopologySpread"

// Plugin implements framework.FilterPlugin and framework.ScorePlugin. Make it with New.
type Plugin struct {
	handle  framework.Handle
	tallies *tallies
	// fallback replaces Kubernetes' default constraints if not nil.
	fallback []v1.TopologySpreadConstraint
}

// New returns the plugin with Kubernetes' default constraints.
func New(handle framework.Handle) Plugin {
	return Plugin{handle: handle, tallies: &tallies{known: map[string]*tally{}}}
}

// WithDefaults returns the plugin with other constraints for pods without
// any; nil means Kubernetes' own.
func (pl Plugin) WithDefaults(list []v1.TopologySpreadConstraint) Plugin {
	pl.fallback = list
	return pl
}

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }
