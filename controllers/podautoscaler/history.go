package podautoscaler

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"
)

const (
	// downWindow is how long a higher recommendation keeps a workload large.
	downWindow = 5 * time.Minute
	// longest is how far back any policy or window looks.
	longest = time.Hour
)

// history is what was recommended and done for one autoscaler.
type history struct {
	next            time.Time // when it may be looked at again
	recommendations []recommendation
	changes         []change
}

type recommendation struct {
	replicas int32
	at       time.Time
}

type change struct {
	by int32
	at time.Time
}

// begin remembers the size found at first.
func (h *history) begin(replicas int32, now time.Time) {
	if len(h.recommendations) == 0 {
		h.recommendations = append(h.recommendations, recommendation{replicas, now})
	}
}

// scaled remembers a change of the size.
func (h *history) scaled(by int32, now time.Time) {
	kept := h.changes[:0]
	for _, c := range h.changes {
		if now.Sub(c.at) < longest {
			kept = append(kept, c)
		}
	}
	h.changes = append(kept, change{by, now})
}

// changed is how much the size changed within a period.
func (h *history) changed(seconds int32, now time.Time) int32 {
	sum := int32(0)
	for _, c := range h.changes {
		if c.at.After(now.Add(-time.Duration(seconds) * time.Second)) {
			sum += c.by
		}
	}
	return sum
}

// stabilize takes the highest recommendation of the window of scaling down, and
// the lowest of that of scaling up, the new one included.
func (h *history) stabilize(current, desired int32, behavior *autoscalingv2.HorizontalPodAutoscalerBehavior, now time.Time) int32 {
	up, down := time.Duration(0), downWindow
	if behavior != nil {
		up = time.Duration(ptr.Deref(behavior.ScaleUp.StabilizationWindowSeconds, 0)) * time.Second
		down = time.Duration(ptr.Deref(behavior.ScaleDown.StabilizationWindowSeconds, int32(downWindow/time.Second))) * time.Second
	}
	lowest, highest := desired, desired
	kept := h.recommendations[:0]
	for _, r := range h.recommendations {
		age := now.Sub(r.at)
		if age < up {
			lowest = min(lowest, r.replicas)
		}
		if age < down {
			highest = max(highest, r.replicas)
		}
		if age < longest {
			kept = append(kept, r)
		}
	}
	h.recommendations = append(kept, recommendation{desired, now})
	if behavior == nil {
		return highest
	}
	return min(max(current, lowest), highest)
}
