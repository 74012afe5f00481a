// Package framework is what the scheduler's plugins are written against: the
// pod and node as they see them, the snapshot of the cluster, the verdict they
// give and the events that may change it.
//
// A plugin is asked once a scheduling cycle for an opinion on the pod
// (PreFilter, PreScore) and gets back to it for each node (Filter, Score). What
// it prepares in between is a value of its own instead of an entry in a shared
// bag of state, so that a folder reads from top to bottom:
//
//	PreFilter(pod, snapshot) -> PodFilter -> Filter(node) -> Status
//	PreScore(pod, snapshot, nodes) -> PodScorer -> Score(node) -> 0..100
//
// Guarantees:
//
//   - PodInfo, NodeInfo and Snapshot are read-only for plugins during a cycle.
//   - NodeInfo.Generation rises with each change of a node or of the pods on
//     it, and is never used twice, so equal generations mean equal verdicts of
//     a plugin that looks at nothing but pod and node.
//
// Compared with kube-scheduler there are no Permit, PostBind or waiting pods.
package framework
