// Package replicationcontroller does for ReplicationControllers what package
// replicaset does for ReplicaSets, and by it: a ReplicationController is looked
// at as if it were a ReplicaSet whose selector is a plain map of labels.
//
//	watches     ReplicationControllers, Pods, ResourceQuotas
//	owns        Pods, by controller reference
//	writes      Pods: create, delete, adopt, release; ReplicationControllers: status
//	invariants  those of package replicaset
package replicationcontroller
