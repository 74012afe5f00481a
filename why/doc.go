// Package why answers why an object is as it is: why a pod is on its node or on
// none, and what keeps an object from going, from being updated or from being ready.
//
//   - scheduling.go: a decision of the past, from the trace; of a pod that
//     waits, what the scheduler's plugins say now, and what would let it in
//   - blocked.go: one sentence for everything else, by kind; it follows owners
//     down to the pod that is to blame
//
// All it knows comes from the API and from the spans of the API server, so it
// works against a real cluster too, where past decisions are unknown.
package why
