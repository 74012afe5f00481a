package fakelet

import (
	"fmt"
	"net/netip"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// addresses hands out addresses of any number of networks, each to one owner.
// The zero value is not ready, see newAddresses.
type addresses struct {
	mu     sync.Mutex
	owner  map[netip.Addr]types.UID
	byUID  map[types.UID]netip.Addr
	latest map[netip.Prefix]netip.Addr // handed out last: a released address rests before it is used again
}

func newAddresses() *addresses {
	return &addresses{owner: map[netip.Addr]types.UID{}, byUID: map[types.UID]netip.Addr{}, latest: map[netip.Prefix]netip.Addr{}}
}

// keep notes an address that an owner already has. The first owner wins.
func (a *addresses) keep(uid types.UID, ip string) {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, taken := a.owner[addr]; !taken {
		a.hand(uid, addr)
	}
}

// take returns the owner's address, a free one of the network if it has none yet.
// The network's own address, its first (the gateway) and its last are left out.
func (a *addresses) take(uid types.UID, network netip.Prefix) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if addr, ok := a.byUID[uid]; ok {
		return addr, nil
	}
	first := network.Masked().Addr().Next()
	addr, ok := a.latest[network]
	if !ok {
		addr = first
	}
	for range 1 << (network.Addr().BitLen() - network.Bits()) {
		if addr = addr.Next(); !network.Contains(addr.Next()) {
			addr = first
			continue
		}
		if _, taken := a.owner[addr]; !taken {
			a.hand(uid, addr)
			a.latest[network] = addr
			return addr, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("network %s has no free address", network)
}

func (a *addresses) hand(uid types.UID, addr netip.Addr) {
	if old, ok := a.byUID[uid]; ok {
		delete(a.owner, old)
	}
	a.owner[addr], a.byUID[uid] = uid, addr
}

// release gives an owner's address back.
func (a *addresses) release(uid types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if addr, ok := a.byUID[uid]; ok {
		delete(a.owner, addr)
		delete(a.byUID, uid)
	}
}
