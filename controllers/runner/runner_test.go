package runner_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/controllers/runner"
	"github.com/kubesim/kubesim/trace"
)

var web = runner.Key{Namespace: "default", Name: "web"}

// run enqueues web once and runs a controller for two virtual seconds.
func run(t *testing.T, registry prometheus.Registerer, reconcile func(context.Context, runner.Key) (time.Duration, error)) []trace.Span {
	t.Helper()
	metrics, err := runner.NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	recorder := trace.NewRecorder(0)
	r, err := runner.New(runner.Controller{
		Name: "test-controller", Resource: corev1.Resource("pods"), Workers: 2, Reconcile: reconcile,
		Source: func(_ context.Context, enqueue func(runner.Key)) { enqueue(web) },
	}, runner.Config{Clock: clock.RealClock{}, Tracer: recorder.Provider(), Logger: slog.New(slog.DiscardHandler), Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r.Run(ctx)
	return recorder.Spans()
}

func TestFailuresAreRetriedWithBackOff(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "web", errors.New("changed"))
	for name, fail := range map[string]func() error{
		"error":    func() error { return errors.New("no") },
		"conflict": func() error { return conflict },
		"error as panic": func() error {
			panic("no")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry := prometheus.NewRegistry()
				began := time.Now()
				var at []time.Duration
				run(t, registry, func(context.Context, runner.Key) (time.Duration, error) {
					at = append(at, time.Since(began))
					if len(at) <= 3 {
						return 0, fail()
					}
					return 0, nil
				})
				ms := time.Millisecond
				if want := []time.Duration{0, 5 * ms, 15 * ms, 35 * ms}; !slices.Equal(at, want) {
					t.Errorf("reconciled at %v, want %v", at, want)
				}
				if n := testutil.CollectAndCount(registry, "controller_reconciles_total"); n != 2 {
					t.Errorf("counted %d results, want success and failure", n)
				}
			})
		})
	}
}

func TestRequeueAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		run(t, nil, func(context.Context, runner.Key) (time.Duration, error) {
			runs++
			return 600 * time.Millisecond, nil
		})
		if runs != 4 { // at 0, 0.6, 1.2 and 1.8 s
			t.Errorf("%d runs, want 4", runs)
		}
	})
}

func TestSpanTellsTheDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := run(t, nil, func(ctx context.Context, _ runner.Key) (time.Duration, error) {
			runner.Decide(ctx, "want %d, have %d", 3, 1)
			return 0, nil
		})
		if len(spans) != 1 {
			t.Fatalf("%d spans, want 1", len(spans))
		}
		if s := spans[0]; s.Name != "reconcile" || s.Component != "test-controller" || s.Object != "pods/default/web" || s.Decision != "want 3, have 1" {
			t.Errorf("span is %+v", s)
		}
	})
}

func TestRunWaitsForItsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		run(t, nil, func(ctx context.Context, _ runner.Key) (time.Duration, error) {
			<-ctx.Done()
			time.Sleep(time.Minute)
			ended = true
			return 0, ctx.Err()
		})
		if !ended {
			t.Error("Run returned before the reconcile did")
		}
	})
}

func TestSelf(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	if keys := runner.Self(pod); !slices.Equal(keys, []runner.Key{web}) {
		t.Errorf("keys are %v", keys)
	}
}
