package runner

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/trace"
)

// Config is what all controllers of a process share. Every field is required
// but Metrics and Gate.
type Config struct {
	Clock   clock.WithTicker
	Tracer  oteltrace.TracerProvider
	Logger  *slog.Logger
	Metrics *Metrics
	// Gate is called before each reconcile and may hold it up; it returns when the
	// context ends.
	Gate func(ctx context.Context, component, object string)
}

// Runner runs one controller.
type Runner struct {
	Controller
	cfg    Config
	logger *slog.Logger
	tracer oteltrace.Tracer
	queue  workqueue.TypedRateLimitingInterface[Key]
	wakes  wakes
}

// New subscribes the controller to its informers, so it belongs before they start.
func New(controller Controller, cfg Config) (*Runner, error) {
	r := &Runner{
		Controller: controller,
		cfg:        cfg,
		logger:     cfg.Logger.With("controller", controller.Name),
		tracer:     cfg.Tracer.Tracer(controller.Name),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[Key](5*time.Millisecond, 1000*time.Second),
			workqueue.TypedRateLimitingQueueConfig[Key]{Clock: cfg.Clock}),
		wakes: wakes{byKey: map[Key]wake{}},
	}
	for i := range controller.Watches {
		watch := &controller.Watches[i]
		if _, err := watch.Informer.AddEventHandler(r.handler(watch)); err != nil {
			return nil, fmt.Errorf("%s: watching %s: %w", controller.Name, watch.Resource, err)
		}
	}
	cfg.Metrics.depth(controller.Name, r.queue.Len)
	return r, nil
}

// Run works until the context ends, and returns when all work has ended.
func (r *Runner) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range r.Workers {
		workers.Go(func() {
			for r.next(ctx) {
			}
		})
	}
	if r.Source != nil {
		workers.Go(func() { r.Source(ctx, r.queue.Add) })
	}
	<-ctx.Done()
	r.queue.ShutDown()
	workers.Wait()
}

func (r *Runner) next(ctx context.Context) bool {
	key, shutdown := r.queue.Get()
	if shutdown {
		return false
	}
	defer r.queue.Done(key)
	if r.cfg.Gate != nil {
		r.cfg.Gate(ctx, r.Name, r.objectOf(key))
	}
	if ctx.Err() != nil {
		return false
	}
	started := r.cfg.Clock.Now()
	after, err := r.reconcile(ctx, key)
	r.cfg.Metrics.observe(r.Name, r.cfg.Clock.Since(started), err)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.report(key, err)
		r.queue.AddRateLimited(key)
	default:
		r.queue.Forget(key)
		if after > 0 {
			r.queue.AddAfter(key, after)
		}
	}
	return true
}

// report logs a failure. Conflicts are how optimistic concurrency works.
func (r *Runner) report(key Key, err error) {
	if apierrors.IsConflict(err) {
		r.logger.Debug("Lost a race, trying again", r.Resource.Resource, key.String(), "err", err)
		return
	}
	r.logger.Warn("Failed to reconcile", r.Resource.Resource, key.String(), "err", err, "attempt", r.queue.NumRequeues(key)+1)
}

// reconcile calls the controller within a span.
func (r *Runner) reconcile(ctx context.Context, key Key) (after time.Duration, err error) {
	ctx, span := r.tracer.Start(ctx, "reconcile", oteltrace.WithAttributes(
		trace.Component.String(r.Name), trace.Object.String(r.objectOf(key))))
	if event, found := r.wakes.take(key); found && span.IsRecording() {
		span.SetAttributes(trace.Woke.Int64(event.revision), trace.WokeObject.String(event.objectName()))
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}()
	return r.Reconcile(ctx, key)
}
