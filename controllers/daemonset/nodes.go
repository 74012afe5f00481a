package daemonset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// verdict is what a node is to a DaemonSet.
type verdict struct {
	run  bool // a pod should be made there
	stay bool // one that is there may stay
}

// judge tells whether a node should have a pod. A taint with effect NoSchedule
// keeps new ones away, NoExecute also those that are there.
func judge(ds *appsv1.DaemonSet, node *corev1.Node) verdict {
	template := &ds.Spec.Template.Spec
	if template.NodeName != "" && template.NodeName != node.Name {
		return verdict{}
	}
	fits, err := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: *template}).Match(node)
	if err != nil || !fits {
		return verdict{}
	}
	v := verdict{run: true, stay: true}
	tolerated := tolerations(template)
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if taint.Effect == corev1.TaintEffectPreferNoSchedule || schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, tolerated, taint, false) {
			continue
		}
		v.run = false
		v.stay = v.stay && taint.Effect != corev1.TaintEffectNoExecute
	}
	return v
}
