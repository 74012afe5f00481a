package fakelet

import (
	"errors"
	"net/netip"
	"sync"
)

var (
	// nodeNetwork holds the nodes' InternalIPs.
	nodeNetwork = netip.MustParsePrefix("172.18.0.0/16")
	// podNetworks are cut into a /24 for each node. The cluster CIDR has 256 of
	// them; larger clusters go on in the shared address space of RFC 6598.
	podNetworks = []netip.Prefix{netip.MustParsePrefix("10.244.0.0/16"), netip.MustParsePrefix("100.64.0.0/10")}
)

// maxNodes is how many nodes the networks have room for.
const maxNodes = 16000

// podCIDRs hands out the nodes' pod networks. It stands in for the node IPAM
// controller: where that runs, nodes have a podCIDR before they are asked about.
type podCIDRs struct {
	mu    sync.Mutex
	used  map[netip.Prefix]bool
	after netip.Prefix // handed out last
}

func newPodCIDRs() *podCIDRs { return &podCIDRs{used: map[netip.Prefix]bool{}} }

// keep notes a network that a node already has.
func (p *podCIDRs) keep(cidr string) {
	if prefix, err := netip.ParsePrefix(cidr); err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.used[prefix.Masked()] = true
	}
}

// release gives a network back.
func (p *podCIDRs) release(cidr string) {
	if prefix, err := netip.ParsePrefix(cidr); err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.used, prefix.Masked())
		p.after = netip.Prefix{} // search from the start again
	}
}

// take returns the first free network.
func (p *podCIDRs) take() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := following(p.after)
	for next.IsValid() && p.used[next] {
		next = following(next)
	}
	if !next.IsValid() {
		return "", errors.New("no pod network is left for another node")
	}
	p.used[next], p.after = true, next
	return next.String(), nil
}

// following is the /24 behind another, the first behind the zero Prefix, and
// invalid behind the last.
func following(prefix netip.Prefix) netip.Prefix {
	if !prefix.IsValid() {
		return netip.PrefixFrom(podNetworks[0].Addr(), 24)
	}
	b := prefix.Addr().As4()
	if b[2]++; b[2] == 0 {
		b[1]++
	}
	next := netip.PrefixFrom(netip.AddrFrom4(b), 24)
	for i, network := range podNetworks {
		switch {
		case network.Contains(next.Addr()):
			return next
		case network.Contains(prefix.Addr()) && i+1 < len(podNetworks):
			return netip.PrefixFrom(podNetworks[i+1].Addr(), 24)
		}
	}
	return netip.Prefix{}
}
