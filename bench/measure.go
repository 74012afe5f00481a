package bench

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Row is one line of the report.
type Row struct {
	What    string
	Count   int             // operations
	Took    time.Duration   // all of them
	Latency []time.Duration // of each, sorted; nil where there is but one
	CPU     time.Duration   // of the server, for all of them; 0 when unknown
	Memory  uint64          // of the server when they were done; 0 when unknown
}

// PerSecond is the throughput.
func (r *Row) PerSecond() float64 { return float64(r.Count) / r.Took.Seconds() }

// Quantile of the latency, 0.5 for the median.
func (r *Row) Quantile(q float64) time.Duration {
	if len(r.Latency) == 0 {
		return 0
	}
	return r.Latency[min(len(r.Latency)-1, int(q*float64(len(r.Latency))))]
}

// CPUPerOp is the server's CPU time for one operation.
func (r *Row) CPUPerOp() time.Duration {
	return r.CPU / time.Duration(max(1, r.Count))
}

// measure notes time and the server's usage around a piece of work.
func (c *client) measure(ctx context.Context, what string, count int, work func() error) (*Row, error) {
	before := c.usage(ctx)
	began := time.Now()
	if err := work(); err != nil {
		return nil, err
	}
	row := &Row{What: what, Count: count, Took: time.Since(began)}
	if after := c.usage(ctx); before.known && after.known {
		row.CPU, row.Memory = after.cpu-before.cpu, after.memory
	}
	return row, nil
}

// measureEach calls op for 0 to count-1, by several workers at once.
func (c *client) measureEach(ctx context.Context, what string, count, workers int, op func(context.Context, int) error) (*Row, error) {
	latency := make([]time.Duration, count)
	row, err := c.measure(ctx, what, count, func() error {
		return each(ctx, count, workers, func(ctx context.Context, i int) error {
			began := time.Now()
			defer func() { latency[i] = time.Since(began) }()
			return op(ctx, i)
		})
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(latency)
	row.Latency = latency
	return row, nil
}

// each calls op for 0 to count-1, by several workers at once.
func each(ctx context.Context, count, workers int, op func(context.Context, int) error) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= count {
					return nil
				}
				if err := op(ctx, i); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}
