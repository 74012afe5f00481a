package fakelet

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// worker feeds keys to a sync function: never one key twice at once, again after
// the time the function asks for, with back-off after an error.
type worker struct {
	kind  string // what the keys name, for logs
	log   *slog.Logger
	queue workqueue.TypedRateLimitingInterface[string]
	sync  func(ctx context.Context, key string) (after time.Duration, err error)
}

func newWorker(kind string, c clock.WithTicker, log *slog.Logger, sync func(context.Context, string) (time.Duration, error)) *worker {
	return &worker{kind: kind, log: log, sync: sync, queue: workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 10*time.Second),
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: c, Name: "fakelet-" + kind})}
}

// run works on n keys at once until ctx ends.
func (w *worker) run(ctx context.Context, n int) {
	var working sync.WaitGroup
	for range n {
		working.Go(func() {
			for w.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	w.queue.ShutDown()
	working.Wait()
}

func (w *worker) next(ctx context.Context) bool {
	key, shutdown := w.queue.Get()
	if shutdown {
		return false
	}
	defer w.queue.Done(key)
	after, err := w.sync(ctx, key)
	switch {
	case ctx.Err() != nil:
		return false
	case err == nil:
		w.queue.Forget(key)
		if after > 0 {
			w.queue.AddAfter(key, after)
		}
	case apierrors.IsConflict(err):
		w.log.Debug("Met a newer object, will retry", w.kind, key)
		w.queue.AddRateLimited(key)
	default:
		w.log.Warn("Failed to sync, will retry", w.kind, key, "err", err)
		w.queue.AddRateLimited(key)
	}
	return true
}
