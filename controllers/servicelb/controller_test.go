package servicelb

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/kubesim/kubesim/controllers/runner"
)

func TestPool(t *testing.T) {
	p := pool{network: netip.MustParsePrefix("192.0.2.0/29"), holders: map[netip.Addr]runner.Key{}}
	take := func(name, wanted, want string) {
		t.Helper()
		got, err := p.take(runner.Key{Name: name}, wanted)
		if err != nil || got.String() != want {
			t.Errorf("%s got %v, %v; want %s", name, got, err, want)
		}
	}
	take("a", "", "192.0.2.1")
	take("a", "", "192.0.2.1")
	take("b", "192.0.2.4", "192.0.2.4")
	take("c", "192.0.2.4", "192.0.2.2") // taken
	take("d", "198.51.100.1", "192.0.2.3")
	take("a", "192.0.2.6", "192.0.2.6") // it changed its mind
	p.release(runner.Key{Name: "b"})
	take("e", "", "192.0.2.1")
	take("f", "", "192.0.2.4")
	take("g", "", "192.0.2.5")
	if got, err := p.take(runner.Key{Name: "h"}, ""); !errors.Is(err, errExhausted) {
		t.Errorf("from an empty pool: %v, %v", got, err)
	}
}
