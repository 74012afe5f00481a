package bench

import (
	"context"
	"fmt"
	"os"

	"github.com/kubesim/kubesim/store/etcd"
)

// raw measures what embedded etcd gives by itself: one transaction an
// operation, in this process, without HTTP and without objects. It is the
// yardstick for the API server's writes.
func (b *bench) raw(ctx context.Context) (rows []*Row, err error) {
	dir, err := os.MkdirTemp("", "kubesim-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	keys, err := etcd.Open(ctx, etcd.Config{DataDir: dir, Logger: b.cfg.Logger})
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := keys.Close(); err == nil {
			err = closeErr
		}
	}()
	revisions := make([]int64, b.cfg.Objects)
	key := func(i int) string { return fmt.Sprintf("/registry/configmaps/bench/c-%d", i) }
	for _, phase := range []struct {
		what string
		op   func(context.Context, int) error
	}{
		{"create", func(ctx context.Context, i int) (err error) {
			revisions[i], err = keys.Create(ctx, key(i), configMap("c"))
			return err
		}},
		{"get", func(ctx context.Context, i int) error {
			_, err := keys.Get(ctx, key(i), 0)
			return err
		}},
		{"update", func(ctx context.Context, i int) (err error) {
			revisions[i], err = keys.Update(ctx, key(i), configMap("d"), revisions[i])
			return err
		}},
		{"delete", func(ctx context.Context, i int) error {
			_, err := keys.Delete(ctx, key(i), revisions[i])
			return err
		}},
	} {
		row, err := b.client.measureEach(ctx, "raw etcd: "+phase.what, b.cfg.Objects, b.cfg.Clients, phase.op)
		if err != nil {
			return nil, err
		}
		row.CPU, row.Memory = 0, 0 // those are of the server, which had nothing to do
		rows = append(rows, row)
	}
	return rows, nil
}
