// Package nodeports keeps pods off nodes where a host port of theirs is taken.
package nodeports

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "NodePorts"

// Plugin implements framework.FilterPlugin.
type Plugin struct{}

var rejected = framework.Reject(Name, "node(s) didn't have free ports for the requested pod ports")

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// PreFilter implements framework.FilterPlugin.
func (Plugin) PreFilter(pod *framework.PodInfo, _ *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	if len(pod.HostPorts) == 0 {
		return nil, nil
	}
	return filter{pod.HostPorts}, nil
}

type filter struct{ ports []framework.HostPort }

func (f filter) Filter(node *framework.NodeInfo) *framework.Status {
	if !Fits(f.ports, node.HostPorts) {
		return rejected
	}
	return nil
}

// Fits reports whether none of the ports is taken. The same port is free for
// another protocol, or another address unless one of both is 0.0.0.0.
func Fits(ports []framework.HostPort, taken framework.HostPorts) bool {
	return !slices.ContainsFunc(ports, taken.Conflicts)
}

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{
		{On: framework.NodeAdd},
		{On: framework.AssignedPodDelete, Helps: func(_ *v1.Pod, change framework.Change) bool {
			gone, ok := change.Old.(*v1.Pod)
			if !ok {
				return true
			}
			info, err := framework.NewPodInfo(gone)
			return err != nil || len(info.HostPorts) > 0
		}},
	}
}
