// Package volumerestrictions keeps a volume that only one pod may use from a
// second one: a PersistentVolumeClaim with access mode ReadWriteOncePod
// anywhere in the cluster, a disk of an in-tree driver on the same node.
package volumerestrictions

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "VolumeRestrictions"

// Plugin implements framework.FilterPlugin.
type Plugin struct {
	Claims corelisters.PersistentVolumeClaimLister
}

var (
	diskTaken  = framework.Reject(Name, "node(s) had no available disk")
	claimTaken = framework.Reject(Name, "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode")
)

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// PreFilter implements framework.FilterPlugin.
func (pl Plugin) PreFilter(pod *framework.PodInfo, snapshot *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	f := &filter{disks: disks(pod.Pod), users: map[string]int{}}
	for i := range pod.Pod.Spec.Volumes {
		name := framework.ClaimName(pod.Pod, &pod.Pod.Spec.Volumes[i])
		if name == "" {
			continue
		}
		claim, err := pl.Claims.PersistentVolumeClaims(pod.Pod.Namespace).Get(name)
		if err == nil && slices.Contains(claim.Spec.AccessModes, v1.ReadWriteOncePod) {
			f.users[pod.Pod.Namespace+"/"+name] = 0
		}
	}
	if len(f.disks)+len(f.users) == 0 {
		return nil, nil
	}
	for claim := range f.users {
		for _, node := range snapshot.Nodes {
			f.users[claim] += node.ClaimUsers[claim]
		}
	}
	return f, nil
}

type filter struct {
	disks []disk
	users map[string]int // pods in the cluster by ReadWriteOncePod claim
}

func (f *filter) Filter(node *framework.NodeInfo) *framework.Status {
	if len(f.disks) > 0 {
		for _, p := range node.Pods {
			if conflict(f.disks, disks(p.Pod)) {
				return diskTaken
			}
		}
	}
	for _, n := range f.users {
		if n > 0 {
			return claimTaken
		}
	}
	return nil
}

// AddPod implements framework.ClusterFilter.
func (f *filter) AddPod(pod *framework.PodInfo, _ *framework.NodeInfo) { f.count(pod.Pod, 1) }

// RemovePod implements framework.ClusterFilter.
func (f *filter) RemovePod(pod *framework.PodInfo, _ *framework.NodeInfo) { f.count(pod.Pod, -1) }

// Clone implements framework.ClusterFilter.
func (f *filter) Clone() framework.ClusterFilter {
	return &filter{disks: f.disks, users: maps.Clone(f.users)}
}

func (f *filter) count(pod *v1.Pod, n int) {
	for i := range pod.Spec.Volumes {
		claim := pod.Namespace + "/" + framework.ClaimName(pod, &pod.Spec.Volumes[i])
		if _, ok := f.users[claim]; ok {
			f.users[claim] += n
		}
	}
}

// disk is a volume of an in-tree driver.
type disk struct {
	driver, id string
	readOnly   bool // may be shared with other readers
}

func disks(pod *v1.Pod) []disk {
	var found []disk
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case v.GCEPersistentDisk != nil:
			found = append(found, disk{"gce", v.GCEPersistentDisk.PDName, v.GCEPersistentDisk.ReadOnly})
		case v.AWSElasticBlockStore != nil:
			found = append(found, disk{"aws", v.AWSElasticBlockStore.VolumeID, false})
		case v.ISCSI != nil:
			found = append(found, disk{"iscsi", v.ISCSI.IQN, v.ISCSI.ReadOnly})
		case v.RBD != nil:
			for _, monitor := range v.RBD.CephMonitors {
				id := monitor + "/" + v.RBD.RBDPool + "/" + v.RBD.RBDImage
				found = append(found, disk{"rbd", id, v.RBD.ReadOnly})
			}
		}
	}
	return found
}

// conflict reports whether a disk is in both lists, unless both only read it.
func conflict(a, b []disk) bool {
	return slices.ContainsFunc(a, func(x disk) bool {
		return slices.ContainsFunc(b, func(y disk) bool {
			return x.driver == y.driver && x.id == y.id && !(x.readOnly && y.readOnly)
		})
	})
}

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{{On: framework.AssignedPodDelete | framework.NodeAdd | framework.ClaimChange}}
}
