// Package endpointslice keeps the EndpointSlices of Services.
//
// New makes those of Services with a selector, from the pods selected; the
// library k8s.io/endpointslice computes and writes them, as in Kubernetes. Its
// requests carry no context, so that they are not children of a reconcile's
// span. NewMirroring copies hand-made Endpoints of Services without a selector
// into slices.
//
// Topology hints by the annotation service.kubernetes.io/topology-mode are
// left out; spec.trafficDistribution works.
package endpointslice
