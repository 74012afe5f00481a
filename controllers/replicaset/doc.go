// Package replicaset keeps as many pods of a template alive as a ReplicaSet wants.
//
//	watches     ReplicaSets, Pods, ResourceQuotas
//	owns        Pods, by controller reference
//	writes      Pods: create, delete, adopt, release; ReplicaSets: status
//	invariants  a pod has at most one controller; while the cache does not show
//	            what was created and deleted, nothing more is
//
// Pods that have finished or are being deleted don't count, so that each is
// replaced at once. Unlike Kubernetes, which waits for its back-off (up to 16
// minutes), a raised quota wakes the ReplicaSets that failed to create pods.
package replicaset
