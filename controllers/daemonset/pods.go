package daemonset

import (
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

var kind = appsv1.SchemeGroupVersion.WithKind("DaemonSet")

const (
	hashLabel       = appsv1.DefaultDaemonSetUniqueLabelKey
	generationLabel = "pod-template-generation"
)

// newPod makes the pod for a node.
func newPod(ds *appsv1.DaemonSet, node, hash string) *corev1.Pod {
	pod := children.NewPod(&ds.Spec.Template, children.Owner{Object: ds, Kind: kind})
	pod.Labels = maps.Clone(pod.Labels)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	if generation := templateGeneration(ds); generation != "" {
		pod.Labels[generationLabel] = generation
	}
	pod.Labels[hashLabel] = hash
	pod.Spec.Tolerations = tolerations(&pod.Spec)
	pinTo(&pod.Spec, node)
	return pod
}

// templateGeneration is the number of the template, "" if it has none.
func templateGeneration(ds *appsv1.DaemonSet) string {
	number := ds.Annotations[appsv1.DeprecatedTemplateGeneration]
	if _, err := strconv.ParseInt(number, 10, 64); err != nil {
		return ""
	}
	return number
}

// updated tells whether a pod has the set's template.
func updated(ds *appsv1.DaemonSet, pod *corev1.Pod, hash string) bool {
	generation := templateGeneration(ds)
	return pod.Labels[hashLabel] == hash || generation != "" && pod.Labels[generationLabel] == generation
}

// tolerations adds those that keep a pod on a node in trouble to a pod's own.
func tolerations(spec *corev1.PodSpec) []corev1.Toleration {
	all := slices.Clone(spec.Tolerations)
	add := func(key string, effect corev1.TaintEffect) {
		all = slices.DeleteFunc(all, func(t corev1.Toleration) bool {
			return t.Key == key && t.Effect == effect && t.Operator == corev1.TolerationOpExists && t.Value == ""
		})
		all = append(all, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if spec.HostNetwork {
		add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
	return all
}

// pinTo replaces a pod's required node affinity, which the node was chosen by,
// with one for the node's name.
func pinTo(spec *corev1.PodSpec, node string) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}
}

// target is the node of a pod: where it runs, or where it wants to.
func target(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == metav1.ObjectNameField && field.Operator == corev1.NodeSelectorOpIn && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}
