// Package defaults fills what a client left out of an object, so that stored
// objects state every choice that the rest of the cluster relies on.
//
// There is one exported function a kind, named after it, as in
//
//	defaults.Deployment(deployment)
//
// and each works in place. A kind without a function here has no defaults.
//
// Guarantees:
//   - pure: no clock, no cluster, no globals; only the object itself is read;
//   - idempotent: defaulting twice is defaulting once, so updates and patches
//     may run the same function as creates;
//   - a value that the client gave is kept, apart from fields that Kubernetes
//     holds twice (serviceAccount and serviceAccountName), which are aligned,
//     quantities finer than a thousandth, which are rounded up, and a pod's
//     negative grace period, which is a second.
//
// A PodTemplateSpec gets less than a Pod: requests taken from limits, host ports
// taken from container ports and enableServiceLinks appear only on the Pod, since
// a default that appeared in templates would change their hash on an upgrade.
//
// What depends on the cluster is left to others: addresses and ports of Services
// to the allocators, priorities, tolerations and classes to package admission.
package defaults
