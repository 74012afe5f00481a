// Package interpodaffinity places pods by which other pods run in the same
// topology domain (node, zone, …): required terms of the pod and required
// anti-affinity terms of the others filter, preferred terms of both score.
//
// All questions are answered from counts of matching pods by domain, taken
// once an attempt. Pods without terms cost nothing as long as nobody has any.
package interpodaffinity

import "github.com/kubesim/kubesim/scheduler/framework"

// Name of the plugin.
const Name = "InterPodAffinity"

// Plugin implements framework.FilterPlugin and framework.ScorePlugin.
type Plugin struct {
	Handle framework.Handle
	// HardWeight is how much a required affinity term of another pod, which need
	// not hold for it both ways, speaks for a node; 1 if nil.
	HardWeight *int32
	// OwnOnly leaves the preferred terms of other pods out of account when the
	// pod has none itself.
	OwnOnly bool
}

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// domain is a value of a topology label.
type domain struct{ key, value string }
