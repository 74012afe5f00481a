// Package podautoscaler scales workloads by their metrics.
//
//	watches     HorizontalPodAutoscalers; reads Pods, scale subresources and the
//	            metrics APIs
//	owns        status of a HorizontalPodAutoscaler
//	writes      the scale of any workload that has one
//	invariants  a workload is looked at every 15 s, not sooner, whatever happens;
//	            a metric that is missing never makes it smaller
//
// A proposal per metric (replicas.go), of which the largest holds, is first
// held against recent ones (history.go), then against the policies and limits
// (limits.go). These three are pure; metrics.go asks the APIs.
//
// Left out: the check whether two autoscalers select the same pods.
package podautoscaler
