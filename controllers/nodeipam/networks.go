package nodeipam

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// nodeBits is the length of a node's prefix.
const nodeBits = 24

var errExhausted = errors.New("there are no remaining CIDRs left to allocate in the accepted range")

// networks divide the cluster's network among nodes.
type networks struct {
	cluster netip.Prefix
	byNode  map[string]netip.Prefix
	holders map[netip.Prefix]string
	next    uint32 // index of the next candidate
}

func newNetworks(cluster netip.Prefix) *networks {
	return &networks{cluster: cluster.Masked(), byNode: map[string]netip.Prefix{}, holders: map[netip.Prefix]string{}}
}

// size is how many networks there are.
func (n *networks) size() uint32 {
	if n.cluster.Bits() > nodeBits {
		return 0
	}
	return 1 << (nodeBits - n.cluster.Bits())
}

func (n *networks) at(index uint32) netip.Prefix {
	base := n.cluster.Addr().As4()
	first := binary.BigEndian.Uint32(base[:]) + index<<(32-nodeBits)
	binary.BigEndian.PutUint32(base[:], first)
	return netip.PrefixFrom(netip.AddrFrom4(base), nodeBits)
}

// hold notes the network that a node has.
func (n *networks) hold(node, cidr string) {
	network, err := netip.ParsePrefix(cidr)
	if err != nil {
		return // it takes nothing from the range
	}
	if old := n.byNode[node]; old != network {
		n.release(node)
	}
	n.byNode[node], n.holders[network] = network, node
}

func (n *networks) release(node string) {
	if network, found := n.byNode[node]; found {
		delete(n.byNode, node)
		if n.holders[network] == node {
			delete(n.holders, network)
		}
	}
}

// take gives a node the next free network, or the one that it got before.
func (n *networks) take(node string) (netip.Prefix, error) {
	if network, found := n.byNode[node]; found {
		return network, nil
	}
	for range n.size() {
		candidate := n.at(n.next)
		n.next = (n.next + 1) % n.size()
		if _, held := n.holders[candidate]; !held {
			n.byNode[node], n.holders[candidate] = candidate, node
			return candidate, nil
		}
	}
	return netip.Prefix{}, errExhausted
}
