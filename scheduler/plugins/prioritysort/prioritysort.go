// Package prioritysort orders the queue: higher priority first, then first come first served.
package prioritysort

import "time"

// Name of the plugin.
const Name = "PrioritySort"

// Item is what the order depends on.
type Item struct {
	Priority int32
	Queued   time.Time // when the pod came into the queue, at this attempt
}

// Less reports whether a is to be scheduled before b.
func Less(a, b Item) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.Queued.Before(b.Queued)
}
