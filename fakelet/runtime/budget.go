package runtime

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
)

// bucket is a share of CPU time: so many steps a second, a tenth of a second's
// worth of them at once.
type bucket struct {
	clock clock.WithTicker
	rate  float64 // steps a second

	mu     sync.Mutex
	credit float64
	filled time.Time
	used   int64
}

func newBucket(c clock.WithTicker, cpus float64) *bucket {
	rate := cpus * process.StepsPerSecond
	return &bucket{clock: c, rate: rate, credit: rate / 10, filled: c.Now()}
}

// take charges steps, and waits until they are paid.
func (b *bucket) take(ctx context.Context, steps int) error {
	b.mu.Lock()
	b.used += int64(steps)
	b.credit -= float64(steps)
	if b.credit < 0 {
		now := b.clock.Now()
		b.credit = min(b.credit+now.Sub(b.filled).Seconds()*b.rate, b.rate/10)
		b.filled = now
	}
	wait := time.Duration(-b.credit / b.rate * float64(time.Second))
	b.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	timer := b.clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// steps is how many have been charged so far.
func (b *bucket) steps() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}
