package queue

import (
	"time"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// All functions here expect q.mu to be held.

// enqueue puts a pod where it belongs that was never tried.
func (q *Queue) enqueue(p *Pod) {
	p.Queued = q.config.Clock.Now()
	p.Gate = nil
	if q.config.PreEnqueue != nil {
		p.Gate = q.config.PreEnqueue(p.Info.Pod)
	}
	if p.Gate != nil {
		q.put(p, gated)
		return
	}
	q.put(p, active)
	q.signal()
}

// requeue puts a rejected pod back, after its time if that is not over yet.
func (q *Queue) requeue(p *Pod, woke framework.Change) {
	p.Woke = woke
	p.expiry = p.Queued.Add(q.backoffAfter(p.Attempts))
	now := q.config.Clock.Now()
	if p.expiry.After(now) {
		q.put(p, backoff)
	} else {
		p.Queued = now
		q.put(p, active)
	}
	q.signal()
}

// land ends the flight of a pod and returns it, in no pool, with the changes
// that came meanwhile; nil if it is gone.
func (q *Queue) land(p *Pod) *Pod {
	current, ok := q.pods[p.UID()]
	if !ok || current.pool != inFlight {
		return nil
	}
	q.counts[inFlight]--
	if current.gone {
		delete(q.pods, p.UID())
		return nil
	}
	p.Info, p.activated = current.Info, current.activated
	q.pods[p.UID()] = p
	return p
}

func (q *Queue) put(p *Pod, to pool) {
	p.pool = to
	q.counts[to]++
	switch to {
	case active:
		q.active.push(p)
	case backoff:
		q.backoff.push(p)
	case errored:
		q.errored.push(p)
	case unschedulable:
		q.waiting[p.UID()] = p
	}
}

func (q *Queue) take(p *Pod) {
	q.counts[p.pool]--
	switch p.pool {
	case active:
		q.active.remove(p)
	case backoff:
		q.backoff.remove(p)
	case errored:
		q.errored.remove(p)
	case unschedulable:
		delete(q.waiting, p.UID())
	}
}

// helps reports whether a plugin that rejected p may judge otherwise after change.
func (q *Queue) helps(p *Pod, change framework.Change) bool {
	if len(p.Plugins) == 0 {
		return true
	}
	for plugin := range p.Plugins {
		for _, hint := range q.config.Hints[plugin] {
			if hint.On&change.Event == 0 {
				continue
			}
			if hint.Helps == nil || hint.Helps(p.Info.Pod, change) {
				return true
			}
		}
	}
	return false
}

// record remembers a change for the pods in flight.
func (q *Queue) record(change framework.Change) {
	if q.counts[inFlight] > 0 {
		q.events = append(q.events, change)
	}
}

// trim forgets events when nobody is left who has yet to see them.
func (q *Queue) trim() {
	if q.counts[inFlight] == 0 && len(q.events) > 0 {
		q.eventBase += int64(len(q.events))
		clear(q.events)
		q.events = q.events[:0]
	}
}

func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *Queue) backoffAfter(attempts int) time.Duration {
	d := q.config.InitialBackoff
	for i := 1; i < attempts && d < q.config.MaxBackoff; i++ {
		d *= 2
	}
	return min(d, q.config.MaxBackoff)
}
