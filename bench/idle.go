package bench

import (
	"context"
	"fmt"
	"time"
)

const (
	// idleSettle is how long a server may still be busy with its own start.
	idleSettle = 5 * time.Second
	// idleTime is how long it is measured: each node renews its Lease once.
	idleTime = 10 * time.Second
)

// idle measures what the server takes while nobody asks it for anything.
func (b *bench) idle(ctx context.Context) ([]*Row, error) {
	if err := pause(ctx, idleSettle); err != nil {
		return nil, err
	}
	row, err := b.client.measure(ctx, fmt.Sprintf("idle for %s", idleTime), 1, func() error { return pause(ctx, idleTime) })
	return []*Row{row}, err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
