package simclock

import (
	"time"

	"k8s.io/utils/clock"
)

// timer is one that fires once or, with a period, again and again.
type timer struct {
	clock  *Clock
	due    time.Time
	period time.Duration
	c      chan time.Time
	f      func() // instead of c
	index  int    // in the heap, -1 if it is not there
}

func (c *Clock) newTimer(period time.Duration, f func()) *timer {
	return &timer{clock: c, period: period, f: f, c: make(chan time.Time, 1), index: -1}
}

// fire wakes who waits. The clock's lock is held.
func (t *timer) fire(now time.Time) {
	if t.f != nil {
		go t.f()
		return
	}
	select {
	case t.c <- now:
	default: // a tick that was not taken is enough
	}
}

// C implements clock.Timer.
func (t *timer) C() <-chan time.Time { return t.c }

// Stop implements clock.Timer.
func (t *timer) Stop() bool { return t.clock.remove(t) }

// Reset implements clock.Timer.
func (t *timer) Reset(d time.Duration) bool {
	active := t.clock.remove(t)
	select {
	case <-t.c: // as with Go's own timers, nothing of before is left
	default:
	}
	t.clock.add(t, d)
	return active
}

// ticker is a timer whose Stop says nothing.
type ticker struct{ *timer }

// Stop implements clock.Ticker.
func (t ticker) Stop() { t.timer.Stop() }

// NewTimer implements clock.Clock.
func (c *Clock) NewTimer(d time.Duration) clock.Timer {
	t := c.newTimer(0, nil)
	c.add(t, d)
	return t
}

// AfterFunc implements clock.WithDelayedExecution.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	t := c.newTimer(0, f)
	c.add(t, d)
	return t
}

// After implements clock.Clock.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C() }

// NewTicker implements clock.WithTicker. Like time.NewTicker it panics if d is not positive.
func (c *Clock) NewTicker(d time.Duration) clock.Ticker {
	if d <= 0 {
		panic("simclock: non-positive interval for NewTicker")
	}
	t := c.newTimer(d, nil)
	c.add(t, d)
	return ticker{t}
}

// Tick implements clock.Clock.
func (c *Clock) Tick(d time.Duration) <-chan time.Time { return c.NewTicker(d).C() }

// timers is a heap, the first to fire in front.
type timers []*timer

// Len implements sort.Interface.
func (h timers) Len() int { return len(h) }

// Less implements sort.Interface.
func (h timers) Less(i, j int) bool { return h[i].due.Before(h[j].due) }

// Swap implements sort.Interface.
func (h timers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *timers) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *timers) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last], *h = nil, (*h)[:last]
	t.index = -1
	return t
}
