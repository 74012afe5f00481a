// Package expand answers claims that ask for more than they have.
//
//	watches     PersistentVolumeClaims
//	owns        nothing
//	writes      events
//	invariants  none: the volume's driver grows it
//
// In Kubernetes this controller grows the volumes of drivers inside
// Kubernetes, and tells of all others that it waits. There are only others here.
package expand
