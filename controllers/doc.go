// Package controllers runs the built-in controllers, as kube-controller-manager
// does: it takes the lead by a Lease, constructs the controllers on one shared
// informer factory, starts the informers, waits until they have the whole state,
// and then starts the workers.
//
// Each controller is a folder with a New that returns a runner.Controller; list
// names them all. What they have in common is in runner (the loop) and children
// (owned objects). They meet the rest of the cluster only through the API, so
// they run in a sandbox, as a process of their own, or against another server.
package controllers
