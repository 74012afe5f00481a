package scheduler

import (
	"maps"
	"strconv"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// nodeChanged is called for each event of a node; old or new may be nil.
func (s *scheduler) nodeChanged(old, new *v1.Node) {
	switch {
	case new == nil:
		s.cache.RemoveNode(old.Name)
		s.queue.Move(change(framework.NodeDelete, "nodes", old, nil))
	case old == nil:
		s.cache.SetNode(new)
		s.queue.Move(change(framework.NodeAdd, "nodes", nil, new))
	default:
		event := nodeUpdate(old, new)
		if event == 0 && len(old.Status.Images) == len(new.Status.Images) {
			return // a heartbeat
		}
		s.cache.SetNode(new)
		if event != 0 {
			s.queue.Move(change(event, "nodes", old, new))
		}
	}
}

// nodeUpdate says what changed of that which scheduling looks at.
func nodeUpdate(old, new *v1.Node) framework.Event {
	var event framework.Event
	if !maps.Equal(old.Labels, new.Labels) {
		event |= framework.NodeLabelUpdate
	}
	if old.Spec.Unschedulable != new.Spec.Unschedulable || !equality.Semantic.DeepEqual(old.Spec.Taints, new.Spec.Taints) {
		event |= framework.NodeTaintUpdate
	}
	if !equality.Semantic.DeepEqual(old.Status.Allocatable, new.Status.Allocatable) {
		event |= framework.NodeAllocatableUpdate
	}
	return event
}

// podChanged is called for each event of a pod; old or new may be nil.
func (s *scheduler) podChanged(old, new *v1.Pod) {
	if new != nil && terminal(new) {
		if old == nil {
			return
		}
		new = nil
	}
	if old != nil && new != nil && old.UID != new.UID { // deleted and made again, unseen
		s.podChanged(old, nil)
		old = nil
	}
	switch {
	case new == nil:
		s.podGone(old)
	case new.Spec.NodeName != "":
		s.podOnNode(old, new)
	case s.profileFor(new) != nil:
		s.podWaits(old, new)
	}
}

func (s *scheduler) podGone(pod *v1.Pod) {
	s.queue.Delete(pod.UID)
	s.nominated.remove(pod.UID)
	s.binding.cancel(pod.UID)
	// Not only if the pod has a node: it may be assumed, its binding unseen.
	if s.cache.IsKnown(pod.UID) {
		s.cache.RemovePod(pod.UID)
		s.queue.Move(change(framework.AssignedPodDelete, "pods", pod, nil))
	}
}

func (s *scheduler) podOnNode(old, new *v1.Pod) {
	if err := s.cache.SetPod(new); err != nil {
		s.Logger.Warn("Ignored affinity of a pod", "pod", key(new), "err", err)
	}
	if old == nil || old.Spec.NodeName == "" {
		s.queue.Delete(new.UID)
		s.nominated.remove(new.UID)
		s.queue.Move(change(framework.AssignedPodAdd, "pods", nil, new))
		return
	}
	var event framework.Event
	if !maps.Equal(old.Labels, new.Labels) {
		event |= framework.AssignedPodLabelUpdate
	}
	if old.Generation != new.Generation && takesLess(old, new) {
		event |= framework.AssignedPodScaleDown
	}
	if event != 0 {
		s.queue.Move(change(event, "pods", old, new))
	}
}

func (s *scheduler) podWaits(old, new *v1.Pod) {
	node := new.Status.NominatedNodeName
	renominated := old == nil || node != old.Status.NominatedNodeName
	changed := old == nil || old.Generation != new.Generation || !maps.Equal(old.Labels, new.Labels)
	if !renominated && !changed {
		return // a condition that the scheduler wrote itself, most likely
	}
	info, err := framework.NewPendingPodInfo(new)
	if err != nil {
		s.Logger.Warn("Ignored affinity of a pod", "pod", key(new), "err", err)
	}
	if !renominated { // what was decided meanwhile may not have been written yet
		node = s.nominated.nodeFor(new.UID)
	}
	s.nominated.set(info, node)
	if !changed {
		return
	}
	if old == nil {
		s.queue.Add(info, change(framework.PodUpdate, "pods", nil, new))
		return
	}
	s.queue.Update(info, change(framework.PodUpdate, "pods", old, new))
}

// takesLess reports whether a resize freed something.
func takesLess(old, new *v1.Pod) bool {
	before, after := framework.PodRequests(old), framework.PodRequests(new)
	return after.MilliCPU < before.MilliCPU || after.Memory < before.Memory
}

func terminal(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

func key(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }

// revision of an object; 0 if it has none that is a number.
func revision(obj metav1.Object) int64 {
	n, err := strconv.ParseInt(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
