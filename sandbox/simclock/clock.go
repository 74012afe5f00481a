package simclock

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// moment is how long, in real time, those may act whom a timer woke during a jump,
// where nobody says when they have (see Settle).
const moment = 2 * time.Millisecond

// Clock implements clock.WithTickerAndDelayedExecution.
type Clock struct {
	mu     sync.Mutex
	now    time.Time // when the rate was set
	since  time.Time // the real time then
	rate   float64   // virtual seconds per real second, 0 while it stands
	resume float64   // the rate to resume with
	timers timers
	alarm  *time.Timer // fires when the first timer is due
	jumps  sync.Mutex  // held during a jump
	settle func(context.Context)
}

var _ clock.WithTickerAndDelayedExecution = (*Clock)(nil)

// New makes a clock that shows the real time and runs at a rate; at 0 it stands,
// and runs as the real one when resumed.
func New(rate float64) *Clock {
	now := time.Now()
	c := &Clock{now: now, since: now, rate: rate, resume: rate, settle: sleepMoment}
	if rate == 0 {
		c.resume = 1
	}
	return c
}

// Settle sets what waits, during a jump, until those who were woken have acted.
func (c *Clock) Settle(wait func(context.Context)) {
	c.jumps.Lock()
	defer c.jumps.Unlock()
	c.settle = wait
}

func sleepMoment(ctx context.Context) {
	select {
	case <-time.After(moment):
	case <-ctx.Done():
	}
}

// A jump of more than exactly lets those act whom the timers of a second woke
// together, as most timers of an idle cluster lead to nothing.
const (
	exactly = 10 * time.Minute
	coarse  = time.Second
)

// State is what a clock does.
type State struct {
	Now    time.Time `json:"now"`
	Rate   float64   `json:"rate"` // 0: it stands
	Timers int       `json:"timers"`
	// Next is when the first timer is due, nil without one.
	Next *time.Time `json:"next,omitempty"`
}

// State tells what the clock does.
func (c *Clock) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{Now: c.current(), Rate: c.rate, Timers: len(c.timers)}
	if len(c.timers) > 0 {
		due := c.timers[0].due
		s.Next = &due
	}
	return s
}

// Pause stops the clock.
func (c *Clock) Pause() { c.setRate(func() float64 { return 0 }) }

// Resume lets it run as before.
func (c *Clock) Resume() { c.setRate(func() float64 { return c.resume }) }

// Run sets its rate, which must be positive.
func (c *Clock) Run(rate float64) {
	c.setRate(func() float64 {
		c.resume = rate
		return rate
	})
}

// setRate calls rate under the lock.
func (c *Clock) setRate(rate func() float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.since = c.current(), time.Now()
	c.rate = rate()
	c.schedule()
}

// Step jumps to the next timer, and tells whether there was one.
func (c *Clock) Step(ctx context.Context) (bool, error) {
	c.jumps.Lock()
	defer c.jumps.Unlock()
	c.mu.Lock()
	if len(c.timers) == 0 {
		c.mu.Unlock()
		return false, nil
	}
	due := c.timers[0].due
	c.mu.Unlock()
	return true, c.jump(ctx, due, 0)
}

// Advance jumps ahead. It returns early when the context ends.
func (c *Clock) Advance(ctx context.Context, d time.Duration) error {
	c.jumps.Lock()
	defer c.jumps.Unlock()
	window := time.Duration(0)
	if d > exactly {
		window = coarse
	}
	return c.jump(ctx, c.Now().Add(d), window)
}

// jump fires what is due on the way to a time, one moment after the other. Those
// whom the timers of a window woke act together.
func (c *Clock) jump(ctx context.Context, to time.Time, window time.Duration) error {
	for {
		more := c.leap(to, window)
		if !more {
			return nil
		}
		c.settle(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// leap fires the timers of the next window, each at its time, and tells whether
// that was not the end of the way.
func (c *Clock) leap(to time.Time, window time.Duration) (more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var end time.Time
	for {
		at := to
		if len(c.timers) > 0 && !c.timers[0].due.After(to) {
			at = c.timers[0].due
			if end.IsZero() {
				end = at.Add(window)
			}
			if at.After(end) {
				return true
			}
			more = true
		} else if more {
			return true
		}
		if now := c.current(); at.Before(now) {
			at = now
		}
		c.now, c.since = at, time.Now()
		c.fire()
		if !more || window == 0 {
			return more
		}
	}
}

// Now implements clock.PassiveClock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current()
}

// current is the time; the caller holds the lock.
func (c *Clock) current() time.Time {
	return c.now.Add(time.Duration(float64(time.Since(c.since)) * c.rate))
}

// Since implements clock.PassiveClock.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Sleep implements clock.Clock.
func (c *Clock) Sleep(d time.Duration) { <-c.After(d) }

// add starts a timer.
func (c *Clock) add(t *timer, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.due = c.current().Add(d)
	heap.Push(&c.timers, t)
	c.fire()
}

// remove takes a timer out, and tells whether it was still to fire.
func (c *Clock) remove(t *timer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.index < 0 {
		return false
	}
	heap.Remove(&c.timers, t.index)
	return true
}

// fire fires all timers that are due, and schedules the next look.
func (c *Clock) fire() {
	now := c.current()
	for len(c.timers) > 0 && !c.timers[0].due.After(now) {
		t := c.timers[0]
		t.fire(now)
		if t.period == 0 {
			heap.Pop(&c.timers)
			continue
		}
		t.due = t.due.Add(t.period)
		if !t.due.After(now) { // ticks that nobody could take are left out
			t.due = now.Add(t.period)
		}
		heap.Fix(&c.timers, 0)
	}
	c.schedule()
}

// schedule sets the alarm for the first timer.
func (c *Clock) schedule() {
	if c.alarm != nil {
		c.alarm.Stop()
	}
	if c.rate == 0 || len(c.timers) == 0 {
		return
	}
	left := time.Duration(float64(c.timers[0].due.Sub(c.current())) / c.rate)
	if c.alarm == nil {
		c.alarm = time.AfterFunc(left, c.ring)
		return
	}
	c.alarm.Reset(left)
}

func (c *Clock) ring() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fire()
}
