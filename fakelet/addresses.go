package fakelet

import (
	"fmt"
	"net/netip"
	"sync"
)

// podNetwork is cut into a /24 for each node.
var podNetwork = netip.MustParsePrefix("10.244.0.0/16")

// nodeNetwork is where the nodes' own addresses come from.
var nodeNetwork = netip.MustParsePrefix("172.18.0.0/16")

// nth is the address n behind the start of a network.
func nth(p netip.Prefix, n int) netip.Addr {
	b := p.Addr().As4()
	v := int(b[2])<<8 + int(b[3]) + n
	return netip.AddrFrom4([4]byte{b[0], b[1] + byte(v>>16), byte(v >> 8), byte(v)})
}

// podCIDR is the pod network of the i-th node.
func podCIDR(i int) string { return fmt.Sprintf("%s/24", nth(podNetwork, i<<8)) }

// addresses hands out the pod addresses of all nodes.
type addresses struct {
	mu   sync.Mutex
	held map[string]string // uid of the pod -> address
	used map[netip.Addr]bool
	last map[netip.Prefix]netip.Addr // handed out last, so that an address rests before it is used again
}

func newAddresses() *addresses {
	return &addresses{held: map[string]string{}, used: map[netip.Addr]bool{}, last: map[netip.Prefix]netip.Addr{}}
}

// keep notes the address that a pod already has.
func (a *addresses) keep(uid, ip string) {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held[uid], a.used[addr] = ip, true
}

// take returns the pod's address out of a network, a new one if it has none.
func (a *addresses) take(uid, cidr string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ip, ok := a.held[uid]; ok {
		return ip, nil
	}
	network, err := netip.ParsePrefix(cidr)
	if err != nil {
		return "", fmt.Errorf("pod CIDR %q: %w", cidr, err)
	}
	addr, ok := a.last[network]
	if !ok {
		addr = network.Addr().Next() // the first is the node's bridge
	}
	for range 1 << (32 - network.Bits()) {
		if addr = addr.Next(); !network.Contains(addr) || !network.Contains(addr.Next()) {
			addr = network.Addr().Next()
			continue
		}
		if !a.used[addr] {
			a.used[addr], a.last[network], a.held[uid] = true, addr, addr.String()
			return addr.String(), nil
		}
	}
	return "", fmt.Errorf("pod CIDR %s has no free address", cidr)
}

// release gives a pod's address back.
func (a *addresses) release(uid string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if addr, err := netip.ParseAddr(a.held[uid]); err == nil {
		delete(a.used, addr)
	}
	delete(a.held, uid)
}
