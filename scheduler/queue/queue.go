package queue

import (
	"cmp"
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Kubernetes' times.
const (
	InitialBackoff = time.Second
	MaxBackoff     = 10 * time.Second
	MaxWait        = 5 * time.Minute // in the unschedulable pool
	flushInterval  = 30 * time.Second
)

// Config of a queue.
type Config struct {
	Clock clock.WithTicker // required
	// How long a pod waits after its first failed attempt, and at most: the
	// wait doubles each time. InitialBackoff and MaxBackoff if 0.
	InitialBackoff, MaxBackoff time.Duration
	// Hints by plugin.
	Hints map[string][]framework.Hint
	// PreEnqueue says why a pod may not be tried at all; nil lets all pass.
	PreEnqueue func(*v1.Pod) *framework.Status
}

// Queue of pods that wait for a node. Make it with New; it is safe for
// concurrent use.
type Queue struct {
	config Config

	mu      sync.Mutex
	pods    map[types.UID]*Pod // in all pools
	active  podHeap
	backoff podHeap
	errored podHeap
	waiting map[types.UID]*Pod // unschedulable, in no order
	counts  map[pool]int
	flushed time.Time // when waiting was last searched for pods that waited too long

	// Events since the oldest pod in flight was popped; the first has number eventBase.
	events    []framework.Change
	eventBase int64

	wake chan struct{} // capacity 1: there is something to pop
}

// New returns an empty queue.
func New(config Config) *Queue {
	config.InitialBackoff = cmp.Or(config.InitialBackoff, InitialBackoff)
	config.MaxBackoff = cmp.Or(config.MaxBackoff, MaxBackoff)
	return &Queue{
		config:  config,
		pods:    map[types.UID]*Pod{},
		active:  podHeap{less: moreUrgent},
		backoff: podHeap{less: expiresSooner},
		errored: podHeap{less: expiresSooner},
		waiting: map[types.UID]*Pod{},
		counts:  map[pool]int{},
		wake:    make(chan struct{}, 1),
	}
}

// Add queues a new pod.
func (q *Queue) Add(info *framework.PodInfo, woke framework.Change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if old, ok := q.pods[info.Pod.UID]; ok {
		q.update(old, info, woke)
		return
	}
	p := &Pod{Info: info, Added: q.config.Clock.Now(), Woke: woke}
	q.pods[p.UID()] = p
	q.enqueue(p)
}

// Update takes over a changed pod, which may help it.
func (q *Queue) Update(info *framework.PodInfo, change framework.Change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p, ok := q.pods[info.Pod.UID]; ok {
		q.update(p, info, change)
	}
}

func (q *Queue) update(p *Pod, info *framework.PodInfo, change framework.Change) {
	if p.pool == inFlight {
		// The attempt goes on with the old pod; if it fails, the change counts.
		q.record(change)
		q.pods[info.Pod.UID] = &Pod{Info: info, pool: inFlight, since: p.since, activated: p.activated, gone: p.gone}
		return
	}
	p.Info = info
	switch p.pool {
	case active:
		q.active.fix(p)
	case gated:
		q.take(p)
		p.Woke = change
		q.enqueue(p)
	case unschedulable:
		if q.helps(p, change) {
			q.take(p)
			q.requeue(p, change)
		}
	}
}

// Delete removes a pod, which was deleted or bound.
func (q *Queue) Delete(uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, ok := q.pods[uid]
	if !ok {
		return
	}
	if p.pool == inFlight {
		p.gone = true
		return
	}
	q.take(p)
	delete(q.pods, uid)
}

// Pop waits for the next pod and returns it; an error means that ctx is done.
// Each popped pod must be given back by Done, Reject or Retry.
func (q *Queue) Pop(ctx context.Context) (*Pod, error) {
	for {
		p, wait := q.tryPop()
		if p != nil {
			return p, nil
		}
		if err := q.sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// sleep returns when there may be something to pop; wait of 0 means no limit.
func (q *Queue) sleep(ctx context.Context, wait time.Duration) error {
	var timeout <-chan time.Time
	if wait > 0 {
		timer := q.config.Clock.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-q.wake:
	case <-timeout:
	}
	return nil
}

// tryPop returns the next pod, or else for how long it is sure that none will
// come by the passing of time alone.
func (q *Queue) tryPop() (*Pod, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.config.Clock.Now()
	q.expire(now)
	var p *Pod
	switch {
	case q.active.Len() > 0:
		p = q.active.peek()
	case q.backoff.Len() > 0: // nothing else to do: why wait
		p = q.backoff.peek()
	default:
		return nil, q.nextExpiry(now)
	}
	q.take(p)
	p.Attempts++
	p.since, p.activated = q.eventBase+int64(len(q.events)), false
	q.put(p, inFlight)
	return p, 0
}

// expire moves pods whose time has come to the active pool.
func (q *Queue) expire(now time.Time) {
	for _, h := range []*podHeap{&q.backoff, &q.errored} {
		for p := h.peek(); p != nil && !p.expiry.After(now); p = h.peek() {
			q.take(p)
			q.put(p, active)
		}
	}
	if now.Sub(q.flushed) < flushInterval {
		return
	}
	q.flushed = now
	for _, p := range q.waiting {
		if now.Sub(p.Queued) >= MaxWait {
			q.take(p)
			q.requeue(p, framework.Change{Event: framework.Timeout})
		}
	}
}

func (q *Queue) nextExpiry(now time.Time) time.Duration {
	var next time.Duration
	sooner := func(t time.Time) {
		if d := max(t.Sub(now), 1); next == 0 || d < next {
			next = d
		}
	}
	if p := q.errored.peek(); p != nil {
		sooner(p.expiry)
	}
	if len(q.waiting) > 0 {
		sooner(q.flushed.Add(flushInterval))
	}
	return next
}

// Done gives a pod back that needs no further attempt: it is being bound, or gone.
func (q *Queue) Done(p *Pod) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.land(p) != nil {
		delete(q.pods, p.UID())
	}
	q.trim()
}

// Reject gives a pod back that fits nowhere because of plugins. No plugins
// means that any event may help.
func (q *Queue) Reject(p *Pod, plugins sets.Set[string]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.trim()
	p = q.land(p)
	if p == nil {
		return
	}
	p.Plugins = plugins
	p.Queued = q.config.Clock.Now()
	if p.activated {
		q.requeue(p, p.Woke)
		return
	}
	for _, change := range q.events[p.since-q.eventBase:] {
		if q.helps(p, change) {
			q.requeue(p, change)
			return
		}
	}
	q.put(p, unschedulable)
}

// Retry gives a pod back whose attempt failed for an error, also after Done.
func (q *Queue) Retry(p *Pod) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.trim()
	if _, ok := q.pods[p.UID()]; ok {
		if p = q.land(p); p == nil {
			return
		}
	}
	q.pods[p.UID()] = p
	p.Plugins = nil
	p.Queued = q.config.Clock.Now()
	p.expiry = p.Queued.Add(q.backoffAfter(p.Attempts))
	q.put(p, errored)
	q.signal()
}

// Move tries pods again that the change may help.
func (q *Queue) Move(change framework.Change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.record(change)
	for _, p := range q.waiting {
		if q.helps(p, change) {
			q.take(p)
			q.requeue(p, change)
		}
	}
}

// Activate puts a pod back, whatever rejected it.
func (q *Queue) Activate(uid types.UID, change framework.Change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, ok := q.pods[uid]
	switch {
	case ok && p.pool == unschedulable:
		q.take(p)
		q.requeue(p, change)
	case ok && p.pool == inFlight: // not rejected yet
		p.activated = true
	}
}

// Counts returns how many pods are in each pool by name.
func (q *Queue) Counts() map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	counts := map[string]int{}
	for _, p := range []pool{active, backoff, errored, unschedulable, gated} {
		counts[p.name()] += q.counts[p]
	}
	return counts
}
