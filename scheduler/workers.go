package scheduler

import (
	"context"
	"hash/maphash"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// workers make the requests that a decision leads to, several at a time. The
// requests about one pod are made in order. A full queue holds the scheduling
// loop up: it must not run ahead of the API server without bound.
type workers struct {
	seed   maphash.Seed
	queues []chan func(context.Context)
	ended  sync.WaitGroup
}

const workerQueue = 64

func newWorkers(n int) *workers {
	w := &workers{seed: maphash.MakeSeed(), queues: make([]chan func(context.Context), n)}
	for i := range w.queues {
		w.queues[i] = make(chan func(context.Context), workerQueue)
	}
	return w
}

// start begins work, which ends with ctx.
func (w *workers) start(ctx context.Context) {
	for _, q := range w.queues {
		w.ended.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case task := <-q:
					task(ctx)
				}
			}
		})
	}
}

// wait returns when all workers and all tasks have ended.
func (w *workers) wait() { w.ended.Wait() }

// do hands a task over that is about the pod with that UID.
func (w *workers) do(ctx context.Context, uid types.UID, task func(context.Context)) {
	i := maphash.String(w.seed, string(uid)) % uint64(len(w.queues))
	select {
	case <-ctx.Done():
	case w.queues[i] <- task:
	}
}

// slow runs a task that may wait for long on a goroutine of its own.
func (w *workers) slow(ctx context.Context, task func(context.Context)) {
	w.ended.Go(func() { task(ctx) })
}
