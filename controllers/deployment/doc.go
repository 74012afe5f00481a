// Package deployment rolls the template of a Deployment out over ReplicaSets,
// one for each template that it has had.
//
//	watches     Deployments, ReplicaSets
//	owns        ReplicaSets, by controller reference; they are named by template hash
//	writes      ReplicaSets: create, adopt, release, scale, annotate, delete the oldest;
//	            Deployments: status, and the revision annotation with it
//	invariants  pods wanted <= replicas + maxSurge; an old pod is only taken away
//	            while more than replicas - maxUnavailable are available
//
// Each reconcile takes the one step that comes next and reports the status; the
// events that the step causes bring the following one. The decisions are pure
// functions of a family, that is a Deployment with its ReplicaSets.
//
// Left out: the rollback subresource of extensions/v1beta1 and its annotation;
// kubectl rolls back by writing the old template.
package deployment
