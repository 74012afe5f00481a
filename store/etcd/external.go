package etcd

import (
	"context"
	"fmt"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubesim/kubesim/store"
)

// dialTimeout bounds how long Open looks for a cluster that answers.
const dialTimeout = 5 * time.Second

// external is a cluster that others run.
type external struct {
	client *clientv3.Client
	rpc    pb.KVClient
}

func openExternal(ctx context.Context, config Config, state *state) (backend, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: config.Endpoints,
		TLS:       config.TLS,
		Logger:    newLogger(config.Logger, nil),
	})
	if err != nil {
		return nil, fmt.Errorf("etcd client: %w", err)
	}
	x := &external{client: client, rpc: clientv3.RetryKVClient(client)}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	revision, err := x.current(ctx)
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("no answer from etcd at %s: %w", strings.Join(config.Endpoints, ","), err)
	}
	state.raise(revision)
	return x, nil
}

func (x *external) Range(ctx context.Context, req *pb.RangeRequest) (*pb.RangeResponse, error) {
	return x.rpc.Range(ctx, req)
}

func (x *external) Txn(ctx context.Context, req *pb.TxnRequest) (*pb.TxnResponse, error) {
	return x.rpc.Txn(ctx, req)
}

func (x *external) Compact(ctx context.Context, req *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	return x.rpc.Compact(ctx, req)
}

// current is a linearizable read of nothing.
func (x *external) current(ctx context.Context) (int64, error) {
	resp, err := x.rpc.Range(ctx, &pb.RangeRequest{Key: []byte{0}, CountOnly: true})
	if err != nil {
		return 0, err
	}
	return resp.Header.Revision, nil
}

// oldest asks with a watch from the first revision: its refusal is the only
// response of etcd's API that tells.
func (x *external) oldest(ctx context.Context) int64 {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for resp := range x.client.Watch(ctx, "\x00", clientv3.WithRev(1)) {
		return resp.CompactRevision
	}
	return 0
}

func (x *external) watch(ctx context.Context, w *watch, revision int64) error {
	start, end := prefixRange(w.prefix)
	responses := x.client.Watch(clientv3.WithRequireLeader(ctx), string(start),
		clientv3.WithRange(string(end)), clientv3.WithRev(revision+1))
	return pump(ctx, w, revision, feed[clientv3.WatchResponse]{
		responses:       responses,
		decode:          decodeRemote,
		requestProgress: func() { x.client.RequestProgress(clientv3.WithRequireLeader(ctx)) },
	})
}

func decodeRemote(resp clientv3.WatchResponse) ([]store.Event, error) {
	if resp.CompactRevision != 0 {
		return nil, &store.CompactedError{Oldest: resp.CompactRevision}
	}
	if err := resp.Err(); err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	return eventsOf(resp.Events, resp.Header.Revision), nil
}

func (x *external) close() error { return x.client.Close() }
