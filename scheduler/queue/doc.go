// Package queue holds the pods that wait for a node.
//
//	Add ----> active <---- expired ---- backoff <--- an event that may help
//	            | Pop                      ^               |
//	            v                          |               |
//	        in flight -- Retry (error) ----+        unschedulable
//	            +------- Reject (fits nowhere) ------------^
//
// A pod is in exactly one pool; gated ones, which may not be tried at all, are
// a pool of their own.
//
// Guarantees:
//
//   - Pop gives the pod of highest priority that waits, the oldest among equals.
//   - A rejected pod is tried again when an event happens after which one of
//     the plugins that rejected it may let it pass, and not before, but after
//     five minutes in any case. Events count from the moment it was popped, so
//     none is missed while it was being looked at.
//   - Between two tries lie 1 to 10 seconds, doubling, unless there is nothing
//     else to do. After an error they lie there in any case.
//
// The queue has no goroutine of its own: time is looked at in Pop.
package queue
