package bench

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// podPadding brings a pod to the 2.6 kB that a running pod of a small Deployment has.
const podPadding = 1500

// list measures the LIST of many pods. Gates keep the scheduler away from them.
func (b *bench) list(ctx context.Context) ([]*Row, error) {
	if err := b.podNamespace(ctx, "bench-list"); err != nil {
		return nil, err
	}
	const path = "/api/v1/namespaces/bench-list/pods"
	err := each(ctx, b.cfg.ListPods, b.cfg.Clients, func(ctx context.Context, i int) error {
		_, err := b.client.do(ctx, http.MethodPost, path, gatedPod(fmt.Sprintf("p-%d", i)))
		return err
	})
	if err != nil {
		return nil, err
	}
	size := 0
	row, err := b.client.measureEach(ctx, "", b.cfg.Lists, 1, func(ctx context.Context, _ int) error {
		body, err := b.client.do(ctx, http.MethodGet, path, nil)
		size = len(body)
		return err
	})
	if err != nil {
		return nil, err
	}
	row.What = fmt.Sprintf("list %d pods, %.1f MB", b.cfg.ListPods, float64(size)/1e6)
	return []*Row{row}, nil
}

func gatedPod(name string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"annotations":{"padding":%q}},`+
		`"spec":{"schedulingGates":[{"name":"kubesim.io/bench"}],"containers":[{"name":"app","image":"nginx:1.29"}]}}`,
		name, strings.Repeat("x", podPadding))
}
