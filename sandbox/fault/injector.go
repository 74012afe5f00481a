package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"k8s.io/utils/clock"
)

// maxFaults bounds how many there may be at a time.
const maxFaults = 100

// Injector has the faults of a cluster. New makes it.
type Injector struct {
	clock clock.WithTicker
	known func(target string) error

	faults  atomic.Pointer[[]*active] // replaced as a whole, under mu
	mu      sync.Mutex
	last    int
	closed  bool
	streams map[*stream]struct{}
	lives   map[string]*life // of processes
	timers  sync.WaitGroup
}

// New makes an injector without faults. known refuses targets that are not there.
func New(clock clock.WithTicker, known func(target string) error) *Injector {
	i := &Injector{clock: clock, known: known, streams: map[*stream]struct{}{}, lives: map[string]*life{}}
	i.faults.Store(&[]*active{})
	return i
}

func (i *Injector) all() []*active { return *i.faults.Load() }

// List are the faults that there are, the oldest first.
func (i *Injector) List() []Fault {
	all := i.all()
	out := make([]Fault, len(all))
	for n, a := range all {
		out[n] = a.state()
	}
	return out
}

// Add makes a fault, which begins at once. What it returns has defaults filled in.
func (i *Injector) Add(f Fault) (Fault, error) {
	if err := f.validate(i.known); err != nil {
		return Fault{}, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return Fault{}, fmt.Errorf("the cluster is ending")
	}
	if len(i.all()) >= maxFaults {
		return Fault{}, fmt.Errorf("there are %d faults already, clear some", maxFaults)
	}
	i.last++
	f.ID, f.Hits, f.Until = strconv.Itoa(i.last), 0, i.clock.Now().Add(f.For.Duration)
	a := &active{Fault: f, ended: make(chan struct{})}
	a.left.Store(int64(f.After))
	all := append(slices.Clone(i.all()), a)
	i.faults.Store(&all)
	i.begin(a)
	timer := i.clock.NewTimer(f.For.Duration)
	i.timers.Go(func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			i.Clear(f.ID)
		case <-a.ended:
		}
	})
	return a.state(), nil
}

// begin does what a fault does at once; the caller holds the lock.
func (i *Injector) begin(a *active) {
	switch a.Kind {
	case Cut:
		for s := range i.streams {
			if a.picks(s.asked) {
				a.hits.Add(1)
				s.end()
			}
		}
	case Crash:
		if a.After == 0 {
			i.kill(a)
		}
	}
}

// Clear ends faults, all of them if no IDs are given, and returns those it ended.
func (i *Injector) Clear(ids ...string) []Fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	var kept, ended []*active
	var cleared []Fault
	for _, a := range i.all() {
		if len(ids) > 0 && !slices.Contains(ids, a.ID) {
			kept = append(kept, a)
			continue
		}
		cleared = append(cleared, a.state())
		ended = append(ended, a)
	}
	i.faults.Store(&kept)
	for _, a := range ended {
		close(a.ended) // now that it is in no list any more
		i.endLossy(a)
	}
	return cleared
}

// endLossy ends the watches that lost events by a Drop that is over.
func (i *Injector) endLossy(a *active) {
	for s := range i.streams {
		if a.Kind == Drop && a.picks(s.asked) && s.lost.Load() {
			s.end()
		}
	}
}

// Close ends all faults for good.
func (i *Injector) Close() {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	i.Clear()
	i.timers.Wait()
}

// lucky tells whether the fault is for this one.
func (a *active) lucky() bool { return a.Rate >= 1 || rand.Float64() < a.Rate }

// Gate holds a component up while a Pause says so, or until the context ends.
func (i *Injector) Gate(ctx context.Context, component, _ string) {
	for ctx.Err() == nil {
		all := i.all()
		n := slices.IndexFunc(all, func(a *active) bool { return a.stops(component) })
		if n < 0 {
			return
		}
		all[n].hits.Add(1)
		select {
		case <-all[n].ended:
		case <-ctx.Done():
		}
	}
}

// Silent tells whether the kubelet of a node does nothing.
func (i *Injector) Silent(node string) bool {
	for _, a := range i.all() {
		if a.stops(kubeletPrefix + node) {
			a.hits.Add(1)
			return true
		}
	}
	return false
}
