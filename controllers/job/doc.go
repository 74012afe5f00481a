// Package job runs pods of a Job's template until enough have succeeded.
//
//	watches     Jobs, Pods
//	owns        Pods
//	writes      Pods: create, delete, adopt, release, and the tracking finalizer;
//	            Jobs: status
//	invariants  each pod is counted once, however often the controller crashes or
//	            its cache is stale; no more than parallelism pods run at a time;
//	            a finished Job does not change any more
//
// What makes the counting exact is a finalizer on each pod. A pod that has ended
// is first noted by uid in status.uncountedTerminatedPods, then its finalizer is
// taken off, then the uid becomes one more in status.succeeded or status.failed.
// Whoever finds a uid there knows how far that went.
//
// A reconcile reads in that order: count the pods (count.go), see whether the
// Job has succeeded or failed (verdict.go), decide which pods come and go
// (decide.go), do so (act.go), and account for those that ended (account.go).
// All but act.go are pure functions.
//
// The finalizer of a pod whose Job is gone is taken off too (orphans.go).
package job
