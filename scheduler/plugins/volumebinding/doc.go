// Package volumebinding places pods by their PersistentVolumeClaims: on nodes
// that the bound volumes can be reached from and, for claims of a class that
// waits for its first consumer, where a volume is free or can be provisioned.
// Such volumes are set aside when the pod gets its node and bound before it is.
//
//	PreFilter  sort  the claims exist; which are bound, which wait
//	Filter     choose a volume for each on the node
//	Reserve    choose again, and keep the volumes from other pods
//	PreBind    bind volume and claim, or ask for one; wait until bound
//
// Left out: CSIStorageCapacity.
package volumebinding

// Name of the plugin.
const Name = "VolumeBinding"
