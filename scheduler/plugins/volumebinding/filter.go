package volumebinding

import (
	"maps"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Plugin implements framework.FilterPlugin and framework.BindPreparer. Make it with New.
type Plugin struct {
	handle   framework.Handle
	reserved *reservations
	timeout  time.Duration
}

// New returns the plugin; timeout is how long it may take until a pod's
// volumes are bound.
func New(handle framework.Handle, timeout time.Duration) *Plugin {
	return &Plugin{handle: handle, reserved: newReservations(), timeout: timeout}
}

// Name implements framework.Plugin.
func (*Plugin) Name() string { return Name }

// PreFilter implements framework.FilterPlugin.
func (pl *Plugin) PreFilter(pod *framework.PodInfo, _ *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	sorted, status := pl.sort(pod.Pod)
	if !status.OK() || len(sorted.bound)+len(sorted.delayed) == 0 {
		return nil, status
	}
	f := &filter{plugin: pl, delayed: sorted.delayed}
	for _, claim := range sorted.bound {
		volume, err := pl.handle.Volumes.Get(claim.Spec.VolumeName)
		if err != nil {
			f.lost = true
			continue
		}
		f.bound = append(f.bound, volume)
	}
	if len(f.delayed) > 0 {
		f.volumes, f.taken = pl.volumes(), pl.reserved.taken()
	}
	return f, nil
}

type filter struct {
	plugin  *Plugin
	bound   []*v1.PersistentVolume
	lost    bool // a claim is bound to a volume that does not exist
	delayed []*v1.PersistentVolumeClaim
	volumes []*v1.PersistentVolume
	taken   map[string]*v1.PersistentVolume // set aside for other pods
}

func (f *filter) Filter(node *framework.NodeInfo) *framework.Status {
	if f.lost {
		return framework.RejectForGood(Name, lostVolume)
	}
	var reasons []string
	if !reachable(f.bound, node.Node) {
		reasons = append(reasons, nodeConflict)
	}
	if len(f.delayed) > 0 {
		if _, ok := Choose(f.delayed, node.Node, f.volumes, maps.Clone(f.taken), f.plugin.class); !ok {
			reasons = append(reasons, noVolume)
		}
	}
	if len(reasons) > 0 {
		return framework.RejectForGood(Name, reasons...)
	}
	return nil
}

// reachable reports whether the node affinity of all volumes admits the node.
func reachable(volumes []*v1.PersistentVolume, node *v1.Node) bool {
	for _, volume := range volumes {
		if volumehelpers.CheckNodeAffinity(volume, node.Labels) != nil {
			return false
		}
	}
	return true
}

func (pl *Plugin) volumes() []*v1.PersistentVolume {
	volumes, err := pl.handle.Volumes.List(labels.Everything())
	if err != nil { // an informer's lister has none
		return nil
	}
	return volumes
}

func (pl *Plugin) class(name string) *storagev1.StorageClass {
	class, err := pl.handle.Classes.Get(name)
	if err != nil {
		return nil
	}
	return class
}

// Hints implements framework.Hinter.
func (*Plugin) Hints() []framework.Hint {
	return []framework.Hint{
		{On: framework.ClaimChange, Helps: isItsClaim},
		{On: framework.VolumeChange | framework.StorageClassChange | framework.CSIChange |
			framework.NodeAdd | framework.NodeLabelUpdate},
	}
}

func isItsClaim(pod *v1.Pod, change framework.Change) bool {
	claim, ok := change.New.(*v1.PersistentVolumeClaim)
	if !ok || claim.Namespace != pod.Namespace {
		return false
	}
	for i := range pod.Spec.Volumes {
		if framework.ClaimName(pod, &pod.Spec.Volumes[i]) == claim.Name {
			return true
		}
	}
	return false
}
