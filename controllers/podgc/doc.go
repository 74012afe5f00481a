// Package podgc deletes pods that nobody else will ever delete.
//
//	watches     nothing; every 20 s it looks at Pods and Nodes
//	owns        nothing
//	writes      Pods: phase Failed, the condition DisruptionTarget, then deletion
//	            without grace
//	invariants  a pod is only taken as its node's orphan after the node was missing
//	            for 40 s, and the API server confirms that it is
//
// Those are pods of nodes that are gone, pods that are terminating without
// ever having been bound, or on a node that is out of service, and of the
// finished ones all above a number.
package podgc
