package framework

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NodeInfo is a node with the sums of what the pods on it take.
type NodeInfo struct {
	Node *v1.Node // nil while only its pods are known

	Pods                         []*PodInfo
	PodsWithAffinity             []*PodInfo // any affinity or anti-affinity term
	PodsWithRequiredAntiAffinity []*PodInfo

	Allocatable Resource
	Requested   Resource // by the pods on the node
	NonZero     Resource // the same with defaults for missing requests
	HostPorts   HostPorts
	ClaimUsers  map[string]int   // pods by namespace/name of a PersistentVolumeClaim
	ImageSizes  map[string]int64 // bytes by image name

	Generation int64 // rises with each change, unique in the cluster
	Index      int   // place in Snapshot.Nodes
}

// NewNodeInfo returns the info of a node with pods.
func NewNodeInfo(node *v1.Node, pods ...*PodInfo) *NodeInfo {
	n := &NodeInfo{}
	if node != nil {
		n.SetNode(node)
	}
	for _, p := range pods {
		n.AddPod(p)
	}
	return n
}

// Name returns the node's name.
func (n *NodeInfo) Name() string { return n.Node.Name }

// SetNode takes over the node object.
func (n *NodeInfo) SetNode(node *v1.Node) {
	n.Node = node
	n.Allocatable = NewResource(node.Status.Allocatable)
	n.ImageSizes = nil
	for _, image := range node.Status.Images {
		for _, name := range image.Names {
			if n.ImageSizes == nil {
				n.ImageSizes = map[string]int64{}
			}
			n.ImageSizes[name] = image.SizeBytes
		}
	}
}

// AddPod counts a pod in.
func (n *NodeInfo) AddPod(p *PodInfo) {
	n.Pods = append(n.Pods, p)
	if p.hasAffinity() {
		n.PodsWithAffinity = append(n.PodsWithAffinity, p)
	}
	if len(p.RequiredAntiAffinity) > 0 {
		n.PodsWithRequiredAntiAffinity = append(n.PodsWithRequiredAntiAffinity, p)
	}
	n.count(p, 1)
	for _, port := range p.HostPorts {
		if n.HostPorts == nil {
			n.HostPorts = HostPorts{}
		}
		n.HostPorts[port] = struct{}{}
	}
}

// RemovePod counts a pod out and reports whether it was there.
func (n *NodeInfo) RemovePod(uid types.UID) bool {
	i := slices.IndexFunc(n.Pods, func(p *PodInfo) bool { return p.Pod.UID == uid })
	if i < 0 {
		return false
	}
	p := n.Pods[i]
	n.Pods = without(n.Pods, p)
	n.PodsWithAffinity = without(n.PodsWithAffinity, p)
	n.PodsWithRequiredAntiAffinity = without(n.PodsWithRequiredAntiAffinity, p)
	n.count(p, -1)
	if len(p.HostPorts) > 0 {
		n.recountPorts()
	}
	return true
}

// Clone returns a copy to which pods may be added, and removed, without
// changing n.
func (n *NodeInfo) Clone() *NodeInfo {
	c := *n
	c.Pods = slices.Clone(n.Pods)
	c.PodsWithAffinity = slices.Clone(n.PodsWithAffinity)
	c.PodsWithRequiredAntiAffinity = slices.Clone(n.PodsWithRequiredAntiAffinity)
	c.Requested.Scalar = maps.Clone(n.Requested.Scalar)
	c.NonZero.Scalar = maps.Clone(n.NonZero.Scalar)
	c.HostPorts = maps.Clone(n.HostPorts)
	c.ClaimUsers = maps.Clone(n.ClaimUsers)
	return &c
}

func (n *NodeInfo) count(p *PodInfo, sign int) {
	n.Requested.add(&p.Usage, int64(sign))
	n.NonZero.add(&p.NonZero, int64(sign))
	for _, volume := range p.Pod.Spec.Volumes {
		if claim := ClaimName(p.Pod, &volume); claim != "" {
			if n.ClaimUsers == nil {
				n.ClaimUsers = map[string]int{}
			}
			n.ClaimUsers[p.Pod.Namespace+"/"+claim] += sign
		}
	}
}

// recountPorts is needed since two pods may hold the same port, put there by hand.
func (n *NodeInfo) recountPorts() {
	n.HostPorts = HostPorts{}
	for _, p := range n.Pods {
		for _, port := range p.HostPorts {
			n.HostPorts[port] = struct{}{}
		}
	}
}

func (p *PodInfo) hasAffinity() bool {
	return len(p.RequiredAffinity) > 0 || len(p.RequiredAntiAffinity) > 0 ||
		len(p.PreferredAffinity) > 0 || len(p.PreferredAntiAffinity) > 0
}

// without removes p by swapping: the order of pods on a node means nothing.
func without(pods []*PodInfo, p *PodInfo) []*PodInfo {
	i := slices.Index(pods, p)
	if i < 0 {
		return pods
	}
	last := len(pods) - 1
	pods[i] = pods[last]
	pods[last] = nil
	return pods[:last]
}

// ClaimName returns the PersistentVolumeClaim behind a volume, "" when there is
// none. A generic ephemeral volume's claim is named after pod and volume.
func ClaimName(pod *v1.Pod, volume *v1.Volume) string {
	switch {
	case volume.PersistentVolumeClaim != nil:
		return volume.PersistentVolumeClaim.ClaimName
	case volume.Ephemeral != nil:
		return pod.Name + "-" + volume.Name
	}
	return ""
}
