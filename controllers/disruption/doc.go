// Package disruption counts how many pods of a PodDisruptionBudget may be
// evicted now.
//
//	watches     PodDisruptionBudgets, Pods; reads the pods' controllers, those
//	            that are not built in through their scale subresource
//	owns        status of a PodDisruptionBudget, but for the evictions that the
//	            API server notes in it
//	writes      PodDisruptionBudgets: status; Pods: a DisruptionTarget that came
//	            to nothing is taken back
//	invariants  a pod whose eviction was granted does not count as healthy from
//	            then on; when anything is unknown, nothing is allowed
package disruption
