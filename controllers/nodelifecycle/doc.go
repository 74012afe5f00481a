// Package nodelifecycle notices nodes that went silent and keeps the taints
// that tell a node's state.
//
//	watches     Nodes, Leases in kube-node-lease; reads Pods
//	owns        of a Node the taints node.kubernetes.io/{not-ready,unreachable,
//	            unschedulable,network-unavailable,*-pressure} and the beta labels
//	            of operating system and architecture
//	writes      Nodes: status of silent ones, taints, labels; Pods: Ready False on
//	            nodes that went silent
//	invariants  a node that shows life is never marked Unknown; a zone's nodes get
//	            NoExecute taints no faster than its limit; while all nodes of the
//	            cluster are not ready, none has such a taint
//
// A sign of life is a renewed Lease or a status with a new heartbeat, as seen
// by this process's clock: those of the nodes are not trusted. The monitor looks
// at all nodes every 5 s and wakes those with something to do; reconcile
// compares one node with what its conditions ask for.
//
// A zone is healthy, partially disrupted (at least 55 % of its nodes, and more
// than two, not ready) or fully so. That sets how often one of its nodes may get
// a NoExecute taint, after which pods are evicted: every 10 s, or every 100 s
// in a large zone that is partially disrupted, or never in a small one. When
// everything is not ready, the fault is more likely on this side.
package nodelifecycle
