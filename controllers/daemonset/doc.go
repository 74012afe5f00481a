// Package daemonset runs one pod of a DaemonSet's template on each node that it
// fits.
//
//	watches     DaemonSets, Pods, Nodes, ControllerRevisions
//	owns        Pods, ControllerRevisions
//	writes      Pods: create, delete, adopt, release;
//	            ControllerRevisions: create, renumber, adopt, delete the oldest;
//	            DaemonSets: status
//	invariants  a node has at most one pod of the set, or an old and a new one
//	            while it surges; an update takes a pod away only while fewer than
//	            maxUnavailable nodes are without one
//
// The scheduler binds the pods: each asks for its node by a node affinity on
// metadata.name, and tolerates the taints of a node in trouble. decide plans
// what one reconcile does, as a pure function of the set, nodes and pods.
//
// As in Kubernetes a change of a node wakes the set only if a pod has to come or
// go; one that merely makes a pod unwanted shows in the status at the next turn.
package daemonset
