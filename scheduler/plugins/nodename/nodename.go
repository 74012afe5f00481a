// Package nodename lets a pod that names its node run there only. Pods with
// spec.nodeName never get as far as the scheduler; the plugin matters to
// preemption and to those who ask where a pod could run.
package nodename

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "NodeName"

// Plugin implements framework.FilterPlugin.
type Plugin struct{}

var rejected = framework.RejectForGood(Name, "node(s) didn't match the requested node name")

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// PreFilter implements framework.FilterPlugin.
func (Plugin) PreFilter(pod *framework.PodInfo, _ *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	if pod.Pod.Spec.NodeName == "" {
		return nil, nil
	}
	return filter{pod.Pod}, nil
}

type filter struct{ pod *v1.Pod }

func (f filter) Filter(node *framework.NodeInfo) *framework.Status {
	if !Fits(f.pod, node.Node) {
		return rejected
	}
	return nil
}

// Fits reports whether the pod names no node, or this one.
func Fits(pod *v1.Pod, node *v1.Node) bool {
	return pod.Spec.NodeName == "" || pod.Spec.NodeName == node.Name
}

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{{On: framework.NodeAdd}}
}
