// Package volumezone keeps pods to the zone and region that the labels of their
// bound volumes name. Volumes with node affinity need no such labels; those of
// old in-tree drivers have nothing else.
package volumezone

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "VolumeZone"

// several separates the zones in the label of a volume that is in more than one.
const several = "__"

// Plugin implements framework.FilterPlugin.
type Plugin struct {
	Handle framework.Handle
}

var rejected = framework.RejectForGood(Name, "node(s) had no available volume zone")

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// PreFilter implements framework.FilterPlugin.
func (pl Plugin) PreFilter(pod *framework.PodInfo, _ *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	var f filter
	for i := range pod.Pod.Spec.Volumes {
		name := framework.ClaimName(pod.Pod, &pod.Pod.Spec.Volumes[i])
		if name == "" {
			continue
		}
		// What does not exist, or is not bound, is the business of VolumeBinding.
		claim, err := pl.Handle.Claims.PersistentVolumeClaims(pod.Pod.Namespace).Get(name)
		if err != nil || claim.Spec.VolumeName == "" {
			continue
		}
		volume, err := pl.Handle.Volumes.Get(claim.Spec.VolumeName)
		if err != nil {
			continue
		}
		for _, key := range topologyLabels() {
			if value, ok := volume.Labels[key]; ok {
				f = append(f, Topology{key, strings.Split(value, several)})
			}
		}
	}
	if len(f) == 0 {
		return nil, nil
	}
	return f, nil
}

// Topology is a label of a volume with the values that a node may have.
type Topology struct {
	Key    string
	Values []string
}

type filter []Topology

func (f filter) Filter(node *framework.NodeInfo) *framework.Status {
	if !Fits(f, node.Node) {
		return rejected
	}
	return nil
}

// Fits reports whether the node has one of the values for each label. A node
// without any topology label is taken to be everywhere.
func Fits(topologies []Topology, node *v1.Node) bool {
	anywhere := !slices.ContainsFunc(topologyLabels(), func(key string) bool {
		_, ok := node.Labels[key]
		return ok
	})
	if anywhere {
		return true
	}
	for _, t := range topologies {
		value, ok := node.Labels[t.Key]
		if !ok {
			value, ok = node.Labels[stable(t.Key)]
		}
		if !ok || !slices.Contains(t.Values, value) {
			return false
		}
	}
	return true
}

func topologyLabels() []string {
	return []string{v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion}
}

// stable returns today's name of a label's former one.
func stable(key string) string {
	switch key {
	case v1.LabelFailureDomainBetaZone:
		return v1.LabelTopologyZone
	case v1.LabelFailureDomainBetaRegion:
		return v1.LabelTopologyRegion
	}
	return key
}

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{{On: framework.NodeAdd | framework.NodeLabelUpdate |
		framework.ClaimChange | framework.VolumeChange | framework.StorageClassChange}}
}
