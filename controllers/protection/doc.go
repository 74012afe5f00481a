// Package protection keeps storage objects until nothing uses them, by a
// finalizer that admission gives to each.
//
//	watches     PersistentVolumeClaims, PersistentVolumes, VolumeAttributesClasses, Pods
//	owns        nothing
//	writes      the finalizers of the three kinds; the condition Unused of claims
//	invariants  the finalizer of an object in use is never taken off; since that can't be
//	            undone, live objects decide where the cache may be behind
//
// Three controllers, one a kind: a claim is in use while a pod with a node
// names it, a volume while it is bound, a class while a claim or volume names it.
package protection
