// Package nodevolumelimits keeps pods off nodes to which their CSI drivers can
// attach no further volume. A driver's limit is in the node's CSINode; without
// one there is no limit.
package nodevolumelimits

import (
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Name of the plugin.
const Name = "NodeVolumeLimits"

// Plugin implements framework.FilterPlugin.
type Plugin struct {
	Handle framework.Handle
}

var full = framework.Reject(Name, "node(s) exceed max volume count")

// Name implements framework.Plugin.
func (Plugin) Name() string { return Name }

// PreFilter implements framework.FilterPlugin.
func (pl Plugin) PreFilter(pod *framework.PodInfo, _ *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	wanted := map[string]string{}
	pl.volumes(pod.Pod, wanted)
	if len(wanted) == 0 {
		return nil, nil
	}
	return filter{pl, wanted}, nil
}

type filter struct {
	plugin Plugin
	wanted map[string]string
}

func (f filter) Filter(node *framework.NodeInfo) *framework.Status {
	csiNode, err := f.plugin.Handle.CSINodes.Get(node.Name())
	if err != nil {
		return nil
	}
	limits := limitsOf(csiNode)
	if len(limits) == 0 {
		return nil
	}
	used := f.plugin.attached(node.Name())
	for _, p := range node.Pods {
		f.plugin.volumes(p.Pod, used)
	}
	if !Fits(f.wanted, used, limits) {
		return full
	}
	return nil
}

// Fits reports whether no driver gets more volumes than its limit. Wanted and
// used volumes are drivers by volume; one that is used already takes no further room.
func Fits(wanted, used map[string]string, limits map[string]int) bool {
	count, added := map[string]int{}, map[string]bool{}
	for _, driver := range used {
		count[driver]++
	}
	for volume, driver := range wanted {
		if _, ok := used[volume]; !ok {
			count[driver]++
			added[driver] = true
		}
	}
	for driver := range added {
		if limit, ok := limits[driver]; ok && count[driver] > limit {
			return false
		}
	}
	return true
}

func limitsOf(node *storagev1.CSINode) map[string]int {
	limits := map[string]int{}
	for _, driver := range node.Spec.Drivers {
		if driver.Allocatable != nil && driver.Allocatable.Count != nil {
			limits[driver.Name] = int(*driver.Allocatable.Count)
		}
	}
	return limits
}

// volumes adds a pod's CSI volumes with their drivers. A claim that has no
// volume yet counts with the driver that will make one.
func (pl Plugin) volumes(pod *v1.Pod, into map[string]string) {
	for i := range pod.Spec.Volumes {
		name := framework.ClaimName(pod, &pod.Spec.Volumes[i])
		if name == "" {
			continue
		}
		claim, err := pl.Handle.Claims.PersistentVolumeClaims(pod.Namespace).Get(name)
		if err != nil {
			continue
		}
		if claim.Spec.VolumeName == "" {
			if class, err := pl.Handle.Classes.Get(volumehelpers.GetPersistentVolumeClaimClass(claim)); err == nil {
				into[pod.Namespace+"/"+name] = class.Provisioner
			}
			continue
		}
		if volume, err := pl.Handle.Volumes.Get(claim.Spec.VolumeName); err == nil && volume.Spec.CSI != nil {
			into[volume.Spec.CSI.Driver+"^"+volume.Spec.CSI.VolumeHandle] = volume.Spec.CSI.Driver
		}
	}
}

// attached are the volumes on a node by their attachments, also of pods that
// are gone already.
func (pl Plugin) attached(node string) map[string]string {
	used := map[string]string{}
	attachments, err := pl.Handle.Attachments.List(labels.Everything())
	if err != nil { // an informer's lister has none
		return used
	}
	for _, a := range attachments {
		if a.Spec.NodeName != node || a.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		if volume, err := pl.Handle.Volumes.Get(*a.Spec.Source.PersistentVolumeName); err == nil && volume.Spec.CSI != nil {
			used[volume.Spec.CSI.Driver+"^"+volume.Spec.CSI.VolumeHandle] = volume.Spec.CSI.Driver
		}
	}
	return used
}

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{{On: framework.CSIChange | framework.AssignedPodDelete | framework.ClaimChange | framework.VolumeChange}}
}
