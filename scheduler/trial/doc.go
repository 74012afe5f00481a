// Package trial asks the scheduler's plugins about a pod outside a scheduler:
// what each says of each node, and which smallest changes would let the pod in.
//
// It reads the cluster once from the API, so it tells how things are now, with the
// profile it is given; what a scheduler decided in the past is in the trace.
package trial
