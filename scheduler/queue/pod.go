package queue

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins/prioritysort"
)

// Pod is a pod in the queue. Between Pop and Reject, Retry or Done it belongs
// to the caller.
type Pod struct {
	Info     *framework.PodInfo
	Attempts int
	Added    time.Time         // when it first came
	Queued   time.Time         // when it came back for this attempt
	Plugins  sets.Set[string]  // that rejected it at the last attempt
	Gate     *framework.Status // why it may not be tried, if gated
	Woke     framework.Change  // what brought it back

	pool   pool
	index  int // in a heap
	expiry time.Time

	// While in flight:
	since     int64 // first event that the attempt has not seen
	activated bool  // to be tried again at once
	gone      bool  // deleted
}

// UID of the pod.
func (p *Pod) UID() types.UID { return p.Info.Pod.UID }

type pool int

const (
	active pool = iota
	backoff
	errored // backoff after an error
	unschedulable
	gated
	inFlight
)

// Name of the pool in metrics, as in kube-scheduler.
func (p pool) name() string {
	switch p {
	case active:
		return "active"
	case backoff, errored:
		return "backoff"
	case gated:
		return "gated"
	case unschedulable:
		return "unschedulable"
	}
	return "in_flight"
}

func moreUrgent(a, b *Pod) bool {
	return prioritysort.Less(
		prioritysort.Item{Priority: a.Info.Priority, Queued: a.Queued},
		prioritysort.Item{Priority: b.Info.Priority, Queued: b.Queued})
}

func expiresSooner(a, b *Pod) bool {
	if !a.expiry.Equal(b.expiry) {
		return a.expiry.Before(b.expiry)
	}
	return moreUrgent(a, b)
}
