package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
)

// objects measures the four requests on single objects: ConfigMaps of 1 KiB.
func (b *bench) objects(ctx context.Context) ([]*Row, error) {
	if err := b.namespace(ctx, "bench-objects"); err != nil {
		return nil, err
	}
	const path = "/api/v1/namespaces/bench-objects/configmaps"
	stored := make([][]byte, b.cfg.Objects) // as the server answered
	name := func(i int) string { return fmt.Sprintf("%s/c-%d", path, i) }
	var rows []*Row
	for _, phase := range []struct {
		what string
		op   func(context.Context, int) error
	}{
		{"create", func(ctx context.Context, i int) (err error) {
			stored[i], err = b.client.do(ctx, http.MethodPost, path, configMap(fmt.Sprintf("c-%d", i)))
			return err
		}},
		{"get", func(ctx context.Context, i int) error {
			_, err := b.client.do(ctx, http.MethodGet, name(i), nil)
			return err
		}},
		{"update", func(ctx context.Context, i int) error {
			changed := bytes.Replace(stored[i], []byte(`"k":"x`), []byte(`"k":"y`), 1)
			_, err := b.client.do(ctx, http.MethodPut, name(i), changed)
			return err
		}},
		{"delete", func(ctx context.Context, i int) error {
			_, err := b.client.do(ctx, http.MethodDelete, name(i), nil)
			return err
		}},
	} {
		row, err := b.client.measureEach(ctx, phase.what, b.cfg.Objects, b.cfg.Clients, phase.op)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// configMap is a manifest with 1 KiB of data.
func configMap(name string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"k":%q}}`,
		name, strings.Repeat("x", 1024))
}
