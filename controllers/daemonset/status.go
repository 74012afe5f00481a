package daemonset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

// newStatus counts nodes, each by its oldest pod.
func newStatus(s scene) appsv1.DaemonSetStatus {
	status := appsv1.DaemonSetStatus{
		ObservedGeneration: s.ds.Generation,
		CollisionCount:     s.ds.Status.CollisionCount,
		Conditions:         s.ds.Status.Conditions,
	}
	for name, node := range s.nodes {
		there := s.pods[name]
		if !judge(s.ds, node).run {
			if len(there) > 0 {
				status.NumberMisscheduled++
			}
			continue
		}
		status.DesiredNumberScheduled++
		if len(there) == 0 {
			continue
		}
		status.CurrentNumberScheduled++
		if children.Ready(there[0]) {
			status.NumberReady++
		}
		if s.available(there[0]) {
			status.NumberAvailable++
		}
		if updated(s.ds, there[0], s.hash) {
			status.UpdatedNumberScheduled++
		}
	}
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	return status
}

// nextAvailable is when the next pod will have been ready for long enough; 0 if
// none is waiting for that.
func nextAvailable(s scene) time.Duration {
	var next time.Duration
	for _, there := range s.pods {
		for _, pod := range there {
			if left, _ := children.AvailableIn(pod, s.ds.Spec.MinReadySeconds, s.now); left > 0 && (next == 0 || left < next) {
				next = left
			}
		}
	}
	return next
}
