// Package endpoints derives the deprecated Endpoints object of each Service
// that has a selector: the addresses of its pods, ready and not, grouped by
// the ports they answer on. Package endpointslice does the same for its
// successor.
//
// It writes only when addresses, ports or labels differ, with the annotation
// endpoints.kubernetes.io/last-change-trigger-time naming the pod's or
// Service's change that led to the write. An object without a Service is
// deleted only when the Service went, or when this controller made it.
package endpoints
