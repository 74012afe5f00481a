package volumebinding

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	volumehelpers "k8s.io/component-helpers/storage/volume"
)

// Why a node is out of the question, in Kubernetes' words.
const (
	nodeConflict = "node(s) didn't match PersistentVolume's node affinity"
	noVolume     = "node(s) didn't find available persistent volumes to bind"
	lostVolume   = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
)

// Choice is what a claim gets on a node: a volume, or one to be provisioned if nil.
type Choice struct {
	Claim  *v1.PersistentVolumeClaim
	Volume *v1.PersistentVolume
}

// Choose finds something for each claim on the node. A volume counts that is
// free, large enough and reachable, and not in taken; the smallest one wins.
// Without one, a volume is provisioned if the class can do so on that node.
func Choose(claims []*v1.PersistentVolumeClaim, node *v1.Node, volumes []*v1.PersistentVolume,
	taken map[string]*v1.PersistentVolume, class func(name string) *storagev1.StorageClass) ([]Choice, bool) {
	var choices []Choice
	for _, claim := range claims {
		// A node chosen at an earlier attempt holds: provisioning may have begun.
		if chosen, ok := claim.Annotations[volumehelpers.AnnSelectedNode]; ok && chosen != "" {
			if chosen != node.Name || !provisionable(class(volumehelpers.GetPersistentVolumeClaimClass(claim)), node) {
				return nil, false
			}
			choices = append(choices, Choice{Claim: claim})
			continue
		}
		volume, err := volumehelpers.FindMatchingVolume(claim, volumes, node, taken, true, true)
		if err != nil {
			return nil, false
		}
		if volume == nil && !provisionable(class(volumehelpers.GetPersistentVolumeClaimClass(claim)), node) {
			return nil, false
		}
		if volume != nil {
			taken[volume.Name] = volume
		}
		choices = append(choices, Choice{claim, volume})
	}
	return choices, true
}

// provisionable reports whether the class has a provisioner and allows the node's topology.
func provisionable(class *storagev1.StorageClass, node *v1.Node) bool {
	if class == nil || class.Provisioner == "" || class.Provisioner == volumehelpers.NotSupportedProvisioner {
		return false
	}
	return topologyAllowed(class.AllowedTopologies, node)
}

// topologyAllowed reports whether one of the terms selects the node, or there is none.
func topologyAllowed(terms []v1.TopologySelectorTerm, node *v1.Node) bool {
	if len(terms) == 0 {
		return true
	}
	selector := &v1.NodeSelector{}
	for _, term := range terms {
		var requirements []v1.NodeSelectorRequirement
		for _, e := range term.MatchLabelExpressions {
			requirements = append(requirements, v1.NodeSelectorRequirement{Key: e.Key, Operator: v1.NodeSelectorOpIn, Values: e.Values})
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, v1.NodeSelectorTerm{MatchExpressions: requirements})
	}
	match, err := nodeaffinity.NewLazyErrorNodeSelector(selector).Match(node)
	return match && err == nil
}

func size(claim *v1.PersistentVolumeClaim) *resource.Quantity {
	q := claim.Spec.Resources.Requests[v1.ResourceStorage]
	return &q
}
