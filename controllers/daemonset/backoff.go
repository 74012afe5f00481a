package daemonset

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	firstDelay = time.Second
	maxDelay   = 15 * time.Minute
)

// place is a DaemonSet's template on a node.
type place struct {
	set        types.UID
	generation int64
	node       string
}

// backoff delays the replacement of pods that fail again and again on a node:
// a kubelet that refuses a pod would otherwise be fought with.
type backoff struct {
	mu     sync.Mutex
	places map[place]delay
}

type delay struct {
	length time.Duration
	since  time.Time
}

// left is how long a place still has to wait.
func (b *backoff) left(p place, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, found := b.places[p]
	if !found {
		return 0
	}
	return max(0, d.since.Add(d.length).Sub(now))
}

// failed notes that a pod was replaced. The delay doubles, unless the place has
// been quiet for long.
func (b *backoff) failed(p place, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for other, d := range b.places {
		if now.Sub(d.since) > 2*maxDelay {
			delete(b.places, other)
		}
	}
	length := firstDelay
	if d, found := b.places[p]; found {
		length = min(2*d.length, maxDelay)
	}
	b.places[p] = delay{length, now}
}
