// Package scheduler gives each pod a node, as kube-scheduler does.
//
//	informers -> cache (nodes, pods on them) ---- snapshot
//	         \-> queue (pods without a node) --\     |
//	                                            scheduling loop
//	                  filter -> score -> choose -> assume -> bind (workers)
//	                     \-> preempt, report, back to the queue
//
// One goroutine takes pods off the queue one at a time, so that each decision
// sees the one before. Whatever needs the API server (bindings, events, status,
// preemption) is done by workers meanwhile: a placed pod counts on its node
// from the decision on, and is taken back if the binding fails.
//
// Where to read:
//
//   - cycle.go: one scheduling attempt
//   - plugins/: the rules, one folder each, around a pure Fits or Score
//   - queue/: when a pod is tried again
//   - cache/: what is on which node, and snapshots of it
//   - profile/: runs the plugins and remembers verdicts for alike pods
//   - explain.go: the table of nodes and plugins in the trace
//   - configuration/, profiles.go: what of all this a file changes, by schedulerName
//   - extender/, extenders.go: servers that have a say
//   - trial/: asks the plugins about one pod, outside a scheduler
//
// Left out against kube-scheduler so far: gang scheduling, waiting on permit.
package scheduler
