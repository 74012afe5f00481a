package framework

import v1 "k8s.io/api/core/v1"

// Event is a kind of change in the cluster, as a bit, so that a hint can name several.
type Event uint64

const (
	NodeAdd Event = 1 << iota
	NodeAllocatableUpdate
	NodeLabelUpdate
	NodeTaintUpdate // spec.unschedulable too
	NodeDelete
	AssignedPodAdd
	AssignedPodLabelUpdate
	AssignedPodScaleDown // requests became smaller, by an in-place resize
	AssignedPodDelete
	PodUpdate // of the waiting pod itself
	ClaimChange
	VolumeChange
	StorageClassChange
	CSIChange // CSINode, VolumeAttachment
	NamespaceLabelUpdate
	ServiceChange
	Timeout // nothing happened for long: try all the same

	// AnyEvent is for pods that no plugin rejected, or one without hints.
	AnyEvent = ^Event(0)
)

// Change is an event with the object before and after: *v1.Node, *v1.Pod, … or nil.
type Change struct {
	Event    Event
	Old, New any

	// What to name as the cause in the trace.
	Object   string
	Revision int64
}

// Hint says that events of On may let a pod pass. Helps looks closer; nil means always.
type Hint struct {
	On    Event
	Helps func(pod *v1.Pod, change Change) bool
}
