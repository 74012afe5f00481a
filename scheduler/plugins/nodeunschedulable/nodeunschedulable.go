// Package nodeunschedulable keeps pods off cordoned nodes.
package nodeunschedulable

import (
	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "NodeUnschedulable"

// Plugin implements framework.FilterPlugin.
type Plugin struct{}

var rejected = framework.RejectForGood(Name, "node(s) were unschedulable")

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// PreFilter implements framework.FilterPlugin.
func (Plugin) PreFilter(pod *framework.PodInfo, _ *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	return filter{pod.Pod}, nil
}

type filter struct{ pod *v1.Pod }

func (f filter) Filter(node *framework.NodeInfo) *framework.Status {
	if !Fits(f.pod, node.Node) {
		return rejected
	}
	return nil
}

// Fits reports whether the node takes new pods, or the pod tolerates that it
// does not, as DaemonSets' pods do.
func Fits(pod *v1.Pod, node *v1.Node) bool {
	if !node.Spec.Unschedulable {
		return true
	}
	cordon := v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}
	return corev1helpers.TolerationsTolerateTaint(klog.Logger{}, pod.Spec.Tolerations, &cordon, false)
}

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{{
		On: framework.NodeAdd | framework.NodeTaintUpdate,
		Helps: func(pod *v1.Pod, change framework.Change) bool {
			node, ok := change.New.(*v1.Node)
			return !ok || Fits(pod, node)
		},
	}, {On: framework.PodUpdate}}
}
