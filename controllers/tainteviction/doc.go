// Package tainteviction deletes pods from nodes with NoExecute taints that the
// pods do not tolerate, or not for so long.
//
//	watches     Pods, Nodes
//	owns        nothing
//	writes      Pods: the condition DisruptionTarget, then deletion
//	invariants  a pod that tolerates all NoExecute taints of its node for ever is
//	            never touched; one that tolerates them for a time is kept that long
//
// The time counts from when the taints were first seen on the pod's node by
// this process, as in Kubernetes; after a restart it starts again.
package tainteviction
