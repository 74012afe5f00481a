// Package ephemeralvolume makes the claims behind the ephemeral volumes of pods.
//
//	watches     Pods, PersistentVolumeClaims
//	owns        PersistentVolumeClaims, by controller reference; named by pod and volume
//	writes      PersistentVolumeClaims: create
//	invariants  a claim of that name which the pod does not own is never used, nor touched
//
// The claim goes with its pod, by garbage collection.
package ephemeralvolume
