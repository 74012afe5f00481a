package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/sync/errgroup"
)

// fanOut measures how long it takes until each of many watchers has seen each
// of many creates.
func (b *bench) fanOut(ctx context.Context) ([]*Row, error) {
	if err := b.namespace(ctx, "bench-watch"); err != nil {
		return nil, err
	}
	const path = "/api/v1/namespaces/bench-watch/configmaps"
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watchers := make([]io.ReadCloser, b.cfg.Watchers)
	for i := range watchers {
		stream, err := b.client.open(ctx, http.MethodGet, path+"?watch=true&resourceVersion=0&fieldSelector=metadata.name!=kube-root-ca.crt", nil)
		if err != nil {
			return nil, err
		}
		defer stream.Close()
		watchers[i] = stream
	}
	what := fmt.Sprintf("%d watchers see %d creates", b.cfg.Watchers, b.cfg.FanOut)
	row, err := b.client.measure(ctx, what, b.cfg.FanOut, func() error {
		group, ctx := errgroup.WithContext(ctx)
		for _, stream := range watchers {
			group.Go(func() error { return readEvents(stream, b.cfg.FanOut) })
		}
		group.Go(func() error {
			return each(ctx, b.cfg.FanOut, b.cfg.Clients, func(ctx context.Context, i int) error {
				_, err := b.client.do(ctx, http.MethodPost, path, configMap(fmt.Sprintf("w-%d", i)))
				return err
			})
		})
		return group.Wait()
	})
	return []*Row{row}, err
}

// readEvents reads as many events, which are a line each.
func readEvents(stream io.Reader, count int) error {
	lines := bufio.NewReaderSize(stream, 64<<10)
	for seen := 0; seen < count; {
		_, err := lines.ReadSlice('\n')
		switch {
		case err == nil:
			seen++
		case !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("a watch ended after %d of %d events: %w", seen, count, err)
		}
	}
	return nil
}
