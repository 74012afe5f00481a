// Package nodeipam gives each node its part of the cluster's pod network.
//
//	watches     Nodes
//	owns        spec.podCIDR of a Node
//	writes      Nodes: podCIDR and podCIDRs, once
//	invariants  no two nodes have the same network; a network of a deleted node
//	            is used again only after all others
//
// Networks that nodes brought with them are taken, wherever they come from.
package nodeipam
