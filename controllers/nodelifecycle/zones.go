package nodelifecycle

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/node/topology"
)

const (
	// evictionRate and secondaryRate are NoExecute taints a second and zone; the
	// second holds in large zones that are partially disrupted.
	evictionRate  = 0.1
	secondaryRate = 0.01
	// largeZone is how many nodes make a zone large.
	largeZone = 50
	// unhealthyShare of not ready nodes makes a zone partially disrupted.
	unhealthyShare = 0.55
	// excludeLabel on a node keeps it out of its zone's state.
	excludeLabel = "node.kubernetes.io/exclude-disruption"
)

// state is how a zone does.
type state int

const (
	healthy state = iota
	partiallyDisrupted
	fullyDisrupted
)

// tally counts a zone's nodes.
type tally struct{ ready, notReady int }

func (t tally) state() state {
	switch {
	case t.ready == 0 && t.notReady > 0:
		return fullyDisrupted
	case t.notReady > 2 && float64(t.notReady)/float64(t.ready+t.notReady) >= unhealthyShare:
		return partiallyDisrupted
	}
	return healthy
}

// rate is how many of the zone's nodes may be tainted a second.
func (t tally) rate() float64 {
	if t.state() != partiallyDisrupted {
		return evictionRate
	}
	if t.ready+t.notReady > largeZone {
		return secondaryRate
	}
	return 0
}

// count sorts nodes by zone. Those labelled so don't count.
func count(nodes []*corev1.Node) map[string]tally {
	tallies := map[string]tally{}
	for _, node := range nodes {
		if _, excluded := node.Labels[excludeLabel]; excluded {
			continue
		}
		t := tallies[topology.GetZoneKey(node)]
		if readiness(node) == corev1.ConditionTrue {
			t.ready++
		} else {
			t.notReady++
		}
		tallies[topology.GetZoneKey(node)] = t
	}
	return tallies
}

// zones limit how fast nodes get NoExecute taints.
type zones struct {
	mu       sync.Mutex
	limits   map[string]*limit
	disabled bool // all zones are fully disrupted
}

// limit is a token bucket that holds one token.
type limit struct {
	rate  float64
	taken time.Time
}

// update takes over the zones' states. It tells whether the whole cluster has
// just become fully disrupted, or has just ceased to be so.
func (z *zones) update(tallies map[string]tally) (entered, left bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	disabled := len(tallies) > 0
	for name, t := range tallies {
		disabled = disabled && t.state() == fullyDisrupted
		if z.limits[name] == nil {
			z.limits[name] = &limit{}
		}
		z.limits[name].rate = t.rate()
	}
	for name := range z.limits {
		if _, still := tallies[name]; !still {
			delete(z.limits, name)
		}
	}
	entered, left = disabled && !z.disabled, z.disabled && !disabled
	z.disabled = disabled
	return entered, left
}

// stopped tells whether no node may have a NoExecute taint.
func (z *zones) stopped() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.disabled
}

// take asks for the zone's token. Otherwise it says how long to wait for it; 0
// is until the zone's state changes.
func (z *zones) take(zone string, now time.Time) (granted bool, wait time.Duration) {
	z.mu.Lock()
	defer z.mu.Unlock()
	l := z.limits[zone]
	if l == nil || l.rate == 0 || z.disabled {
		return false, 0
	}
	if wait := l.taken.Add(time.Duration(float64(time.Second) / l.rate)).Sub(now); wait > 0 {
		return false, wait
	}
	l.taken = now
	return true, 0
}
