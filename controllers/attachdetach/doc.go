// Package attachdetach asks storage drivers to attach volumes to the nodes whose
// pods use them, and to detach them afterwards.
//
//	watches     Nodes, Pods, PersistentVolumeClaims, VolumeAttachments, CSIDrivers
//	owns        VolumeAttachments, named by a hash of volume, driver and node
//	writes      VolumeAttachments: create, delete; Nodes: status.volumesAttached
//	invariants  a volume that only one node may write to has one attachment;
//	            none is taken away while the node says that it is in use
//
// Keys are nodes: what a node's pods want is compared with the attachments that
// the node has. A driver that needs no attaching says so in its CSIDriver.
package attachdetach
