package nodeipam

import (
	"errors"
	"net/netip"
	"testing"
)

func TestNetworks(t *testing.T) {
	n := newNetworks(netip.MustParsePrefix("10.244.0.0/22")) // four networks
	n.hold("old", "10.244.1.0/24")
	n.hold("foreign", "192.0.2.0/24")
	take := func(node, want string) {
		t.Helper()
		got, err := n.take(node)
		if err != nil || got.String() != want {
			t.Errorf("%s got %v, %v; want %s", node, got, err, want)
		}
	}
	take("a", "10.244.0.0/24")
	take("b", "10.244.2.0/24")
	take("a", "10.244.0.0/24")
	n.release("a")
	take("c", "10.244.3.0/24") // before a released one
	take("d", "10.244.0.0/24")
	if _, err := n.take("e"); !errors.Is(err, errExhausted) {
		t.Errorf("a fifth network: %v", err)
	}
	n.hold("old", "10.244.9.0/24")
	take("e", "10.244.1.0/24")
}

func TestNetworksOfATooSmallRange(t *testing.T) {
	if _, err := newNetworks(netip.MustParsePrefix("10.244.0.0/25")).take("a"); !errors.Is(err, errExhausted) {
		t.Errorf("got %v", err)
	}
}
