// Package persistentvolume binds claims and volumes to each other.
//
//	watches     PersistentVolumeClaims, PersistentVolumes, StorageClasses
//	owns        nothing
//	writes      PersistentVolumes: claimRef, phase, deletion of those it can reclaim itself;
//	            PersistentVolumeClaims: volumeName, class, phase, capacity,
//	            annotations that tell provisioners to begin
//	invariants  a volume points to its claim before the claim points to it, so
//	            that a volume never has two claims; what was bound is never
//	            bound to anything else, but Lost
//
// Claims and volumes are keys of one queue; a key without namespace is a volume.
// What is to be done about one is decided by pure functions (decideClaim,
// decideVolume), and done in steps that each may be the last before a crash:
// whoever comes next finds the state it was left in, and goes on.
//
// A claim that finds nothing is looked at again every 15 seconds, as in
// Kubernetes; unlike there, a volume that becomes available, or a class that
// is made, wakes the claims that may want it at once.
//
// Left out: the drivers inside Kubernetes and their migration to CSI. Volumes are made by
// provisioners, such as the one of package provisioner. Of hostPath and nfs
// volumes, which Kubernetes scrubs by a pod when their policy is Recycle, the
// data is taken to be gone at once.
package persistentvolume
