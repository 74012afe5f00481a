package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins/noderesources"
	"github.com/kubesim/kubesim/scheduler/plugins/tainttoleration"
)

// alternatives are the ways to make one plugin let the pod onto the node; each is
// of one change or several.
func alternatives(pod *v1.Pod, node *framework.NodeInfo, rejection *framework.Status) [][]change {
	switch rejection.Plugin {
	case "NodeUnschedulable":
		return one(uncordon(node.Node), tolerate(v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}))
	case "TaintToleration":
		return taints(pod, node.Node)
	case noderesources.FitName:
		return resources(pod, node)
	case "NodeAffinity":
		return affinity(pod, node.Node)
	case "NodeName":
		return one(change{text: "drop nodeName " + pod.Spec.NodeName, pod: func(p *v1.Pod) { p.Spec.NodeName = "" }})
	case "NodePorts":
		return one(change{text: "drop its host ports, which another pod of " + node.Name() + " has", key: "hostPorts", pod: dropPorts})
	case "InterPodAffinity":
		return podAffinity(pod)
	case "PodTopologySpread":
		return one(change{text: "set whenUnsatisfiable of its topology spread constraints to ScheduleAnyway", pod: spreadAnyway})
	}
	return nil
}

func one(changes ...change) [][]change {
	var all [][]change
	for _, c := range changes {
		all = append(all, []change{c})
	}
	return all
}

// taints lists both ways to get past them: all removed, or all tolerated.
func taints(pod *v1.Pod, node *v1.Node) [][]change {
	var remove, accept []change
	for _, taint := range node.Spec.Taints {
		if taint.Effect == v1.TaintEffectPreferNoSchedule {
			continue
		}
		if tainttoleration.Fits(pod.Spec.Tolerations, []v1.Taint{taint}) {
			continue
		}
		accept = append(accept, tolerate(taint))
		if taint.Key == v1.TaintNodeUnschedulable {
			remove = append(remove, uncordon(node))
			continue
		}
		remove = append(remove, change{
			text: fmt.Sprintf("remove taint %s from %s", taint.ToString(), node.Name),
			node: func(n *v1.Node) {
				n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.MatchTaint(&taint) })
			},
		})
	}
	return [][]change{remove, accept}
}

// uncordon takes the taint along that follows from the cordon.
func uncordon(node *v1.Node) change {
	return change{text: "uncordon " + node.Name, node: func(n *v1.Node) {
		n.Spec.Unschedulable = false
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeUnschedulable })
	}}
}

func tolerate(taint v1.Taint) change {
	toleration := v1.Toleration{Key: taint.Key, Operator: v1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect}
	return change{
		text: "add a toleration for " + taint.ToString(),
		pod:  func(p *v1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, toleration) },
	}
}

// resources lowers requests to what the node has left, or frees on the node
// what it lacks.
func resources(pod *v1.Pod, node *framework.NodeInfo) [][]change {
	request := framework.PodRequests(pod)
	var lower, free []change
	short, tooSmall := 0, false
	for _, s := range noderesources.Fits(&request, node) {
		if c, ok := lowered(pod, s); ok {
			lower = append(lower, c)
		}
		short++
		if s.Requested > s.Capacity { // nothing that could be freed would do
			tooSmall = true
		}
		name, missing := s.Resource, quantity(s.Resource, s.Requested-(s.Capacity-s.Used))
		text := fmt.Sprintf("free %s of %s on %s", missing.String(), name, node.Name())
		if name == v1.ResourcePods {
			text = "remove a pod from " + node.Name()
		}
		free = append(free, change{text: text, key: "free " + string(name), rank: -missing.MilliValue(), node: func(n *v1.Node) {
			n.Status.Allocatable = maps.Clone(n.Status.Allocatable)
			sum := n.Status.Allocatable[name]
			sum.Add(missing)
			n.Status.Allocatable[name] = sum
		}})
	}
	var ways [][]change
	if len(lower) == short {
		ways = append(ways, lower)
	}
	if !tooSmall {
		ways = append(ways, free)
	}
	return ways
}

// lowered takes from the container that asks for most. It is not ok if that
// can't be enough.
func lowered(pod *v1.Pod, s noderesources.Shortage) (change, bool) {
	left := s.Capacity - s.Used
	at, most := -1, int64(0)
	for i := range pod.Spec.Containers {
		if q := amount(s.Resource, pod.Spec.Containers[i].Resources.Requests[s.Resource]); q > most {
			at, most = i, q
		}
	}
	target := most - (s.Requested - left)
	if at < 0 || target <= 0 || left <= 0 || s.Resource == v1.ResourcePods {
		return change{}, false
	}
	to := quantity(s.Resource, target)
	of := ""
	if len(pod.Spec.Containers) > 1 {
		of = " of container " + pod.Spec.Containers[at].Name
	}
	return change{
		text: fmt.Sprintf("lower %s request%s to %s", s.Resource, of, to.String()),
		key:  "lower " + string(s.Resource), rank: target,
		pod: func(p *v1.Pod) {
			requests := maps.Clone(p.Spec.Containers[at].Resources.Requests)
			requests[s.Resource] = to
			p.Spec.Containers[at].Resources.Requests = requests
		},
	}, true
}

// amount is a quantity in the units of framework.Resource.
func amount(name v1.ResourceName, q resource.Quantity) int64 {
	if name == v1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

func quantity(name v1.ResourceName, n int64) resource.Quantity {
	switch name {
	case v1.ResourceCPU:
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	case v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return *resource.NewQuantity(n, resource.BinarySI)
	}
	return *resource.NewQuantity(n, resource.DecimalSI)
}

// affinity labels the node as the pod's selector wants it, or drops what the pod asks for.
func affinity(pod *v1.Pod, node *v1.Node) [][]change {
	var label, drop []change
	for _, key := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) {
		value := pod.Spec.NodeSelector[key]
		if have, ok := node.Labels[key]; ok && have == value {
			continue
		}
		label = append(label, change{text: fmt.Sprintf("label %s %s=%s", node.Name, key, value), node: func(n *v1.Node) {
			n.Labels = maps.Clone(n.Labels)
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			n.Labels[key] = value
		}})
		drop = append(drop, change{text: fmt.Sprintf("drop node selector %s=%s", key, value), pod: func(p *v1.Pod) { delete(p.Spec.NodeSelector, key) }})
	}
	required := change{text: "drop the required node affinity", pod: func(p *v1.Pod) {
		if p.Spec.Affinity != nil && p.Spec.Affinity.NodeAffinity != nil {
			p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}
	}}
	has := pod.Spec.Affinity != nil && pod.Spec.Affinity.NodeAffinity != nil && pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
	switch {
	case len(label) == 0:
		return one(required)
	case has:
		return [][]change{label, drop, append(slices.Clip(drop), required)}
	}
	return [][]change{label, drop}
}

func podAffinity(pod *v1.Pod) [][]change {
	var all [][]change
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		all = append(all, one(change{text: "drop the required pod anti-affinity", pod: func(p *v1.Pod) {
			p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}})...)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		all = append(all, one(change{text: "drop the required pod affinity", pod: func(p *v1.Pod) {
			p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}})...)
	}
	if len(pod.Labels) > 0 { // what another pod's anti-affinity may mean
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(pod.Labels)) {
			labels = append(labels, key+"="+pod.Labels[key])
		}
		all = append(all, one(change{
			text: "change its labels " + strings.Join(labels, ",") + ", which another pod's anti-affinity keeps off",
			pod:  func(p *v1.Pod) { p.Labels = nil },
		})...)
	}
	return all
}

func dropPorts(pod *v1.Pod) {
	for _, containers := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Ports = nil
		}
	}
}

func spreadAnyway(pod *v1.Pod) {
	for i := range pod.Spec.TopologySpreadConstraints {
		pod.Spec.TopologySpreadConstraints[i].WhenUnsatisfiable = v1.ScheduleAnyway
	}
}
