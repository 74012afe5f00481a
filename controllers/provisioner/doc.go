// Package provisioner plays a storage driver, so that a sandbox has a default
// StorageClass whose claims get volumes. It does what the sidecars of a CSI
// driver do: provisioner, resizer and attacher.
//
//	watches     PersistentVolumeClaims, PersistentVolumes; VolumeAttachments
//	owns        the StorageClass standard; the volumes that it made
//	writes      PersistentVolumes: create, grow, delete;
//	            PersistentVolumeClaims: status of a resize;
//	            VolumeAttachments: status
//	invariants  one volume a claim, named by the claim's uid; a volume is
//	            deleted only when it is released and its policy says so
//
// Nothing here is part of a kube-controller-manager, so these controllers run only
// where they are asked for by name, as kubesim up does without --bare.
package provisioner

// Driver is the provisioner in StorageClasses, and the driver of the volumes.
const Driver = "disk.kubesim.io"
