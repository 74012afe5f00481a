// Package tainttoleration keeps pods off nodes with taints that they do not
// tolerate, and prefers nodes with few taints of effect PreferNoSchedule.
package tainttoleration

import (
	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "TaintToleration"

// Plugin implements framework.FilterPlugin and framework.ScorePlugin.
type Plugin struct{}

// Which taint it is goes to the trace only: a sentence that counted each taint
// apart would have a part per node.
var rejected = framework.RejectForGood(Name, "node(s) had untolerated taint(s)")

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// PreFilter implements framework.FilterPlugin.
func (Plugin) PreFilter(pod *framework.PodInfo, _ *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	return filter{pod.Pod.Spec.Tolerations}, nil
}

type filter struct{ tolerations []v1.Toleration }

func (f filter) Filter(node *framework.NodeInfo) *framework.Status {
	if !Fits(f.tolerations, node.Node.Spec.Taints) {
		return rejected
	}
	return nil
}

// Fits reports whether all taints that keep pods off are tolerated.
func Fits(tolerations []v1.Toleration, taints []v1.Taint) bool {
	for i := range taints {
		effect := taints[i].Effect
		if effect != v1.TaintEffectNoSchedule && effect != v1.TaintEffectNoExecute {
			continue
		}
		if !tolerated(tolerations, &taints[i]) {
			return false
		}
	}
	return true
}

// PreScore implements framework.ScorePlugin.
func (Plugin) PreScore(pod *framework.PodInfo, _ *framework.Snapshot, _ []*framework.NodeInfo) framework.PodScorer {
	return scorer{pod.Pod.Spec.Tolerations}
}

type scorer struct{ tolerations []v1.Toleration }

// Score counts the taints that count against a node; fewer is better.
func (s scorer) Score(node *framework.NodeInfo) int64 {
	return Intolerable(s.tolerations, node.Node.Spec.Taints)
}

func (scorer) Normalize(_ []*framework.NodeInfo, scores []int64) {
	framework.NormalizeByMax(scores, true)
}

// Intolerable counts the taints of effect PreferNoSchedule that are not tolerated.
func Intolerable(tolerations []v1.Toleration, taints []v1.Taint) int64 {
	var n int64
	for i := range taints {
		if taints[i].Effect == v1.TaintEffectPreferNoSchedule && !tolerated(tolerations, &taints[i]) {
			n++
		}
	}
	return n
}

func tolerated(tolerations []v1.Toleration, taint *v1.Taint) bool {
	return corev1helpers.TolerationsTolerateTaint(klog.Logger{}, tolerations, taint, false)
}

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{{
		On: framework.NodeAdd | framework.NodeTaintUpdate,
		Helps: func(pod *v1.Pod, change framework.Change) bool {
			node, ok := change.New.(*v1.Node)
			return !ok || Fits(pod.Spec.Tolerations, node.Spec.Taints)
		},
	}, {On: framework.PodUpdate}}
}
