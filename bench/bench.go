package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// The parts of the measurement, in the order in which they run.
const (
	PartRaw        = "raw"        // embedded etcd by itself
	PartObjects    = "objects"    // create, get, update, delete
	PartList       = "list"       // of pods
	PartWatch      = "watch"      // fan-out
	PartDeployment = "deployment" // to Ready, and gone
	PartIdle       = "idle"       // what a server takes that has nothing to do
)

// partTimeout is how long one part may take.
const partTimeout = 3 * time.Minute

type bench struct {
	cfg    Config
	client *client
	made   []string // namespaces
}

// Run measures the parts and returns a row for each figure, also
// those from before an error. A part needs what
// it measures: a bare API server makes no Deployment Ready.
func Run(ctx context.Context, cfg Config, parts ...string) (rows []*Row, err error) {
	cfg.setDefaults()
	c, err := newClient(cfg.RESTConfig, cfg.Clients+cfg.Watchers)
	if err != nil {
		return nil, err
	}
	b := &bench{cfg: cfg, client: c}
	defer func() { err = errors.Join(err, b.cleanUp(context.WithoutCancel(ctx))) }()
	measures := map[string]func(context.Context) ([]*Row, error){
		PartRaw: b.raw, PartObjects: b.objects, PartList: b.list, PartWatch: b.fanOut,
		PartDeployment: b.deployment, PartIdle: b.idle,
	}
	for _, part := range parts {
		measure, ok := measures[part]
		if !ok {
			return rows, fmt.Errorf("%q: no such part", part)
		}
		more, err := b.bounded(ctx, measure)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", part, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// bounded gives a part that long, so that a server which never gets there is told of.
func (b *bench) bounded(ctx context.Context, measure func(context.Context) ([]*Row, error)) ([]*Row, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, partTimeout, fmt.Errorf("it was not done after %s", partTimeout))
	defer cancel()
	rows, err := measure(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return rows, err
}

// namespace makes one.
func (b *bench) namespace(ctx context.Context, name string) error {
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)
	if _, err := b.client.do(ctx, http.MethodPost, "/api/v1/namespaces", body); err != nil {
		return err
	}
	b.made = append(b.made, name)
	return nil
}

// podNamespace makes one and waits for its default ServiceAccount, without which
// pods are refused.
func (b *bench) podNamespace(ctx context.Context, name string) error {
	if err := b.namespace(ctx, name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	accounts := "/api/v1/namespaces/" + name + "/serviceaccounts?watch=true&fieldSelector=metadata.name=default"
	return b.watchUntil(ctx, accounts, func(kind string, _ json.RawMessage) (bool, error) { return kind == "ADDED", nil })
}

// cleanUp deletes the namespaces; their controller does the rest.
func (b *bench) cleanUp(ctx context.Context) error {
	var failed []error
	for _, name := range b.made {
		_, err := b.client.do(ctx, http.MethodDelete, "/api/v1/namespaces/"+name, nil)
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
