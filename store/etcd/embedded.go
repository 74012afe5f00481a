package etcd

import (
	"context"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"google.golang.org/grpc"

	"github.com/kubesim/kubesim/store"
)

// closeTimeout bounds the wait for a server that failed and may never stop.
const closeTimeout = 500 * time.Millisecond

// embedded is the single-member server in this process.
type embedded struct {
	state   *state
	lock    *fileutil.LockedFile
	server  *etcdserver.EtcdServer
	kv      pb.KVServer
	clients *grpc.Server // nil without Config.ClientListen

	mu     sync.RWMutex // reads hold it: they must not meet a closed database
	closed bool
}

// Range serves a read from this member's state, without asking raft: there is
// no other member that could know better.
func (e *embedded) Range(ctx context.Context, req *pb.RangeRequest) (*pb.RangeResponse, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return nil, store.ErrClosed
	}
	req.Serializable = true
	return e.kv.Range(ctx, req)
}

func (e *embedded) Txn(ctx context.Context, req *pb.TxnRequest) (*pb.TxnResponse, error) {
	return e.kv.Txn(ctx, req)
}

func (e *embedded) Compact(ctx context.Context, req *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	return e.kv.Compact(ctx, req)
}

// current needs no read: whatever wrote, its response went through this process.
// (etcd's own figure waits for the database's commit, which waits for the disk.)
func (e *embedded) current(context.Context) (int64, error) { return e.state.newest.Load(), nil }

func (e *embedded) oldest(context.Context) int64 {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return 0
	}
	return e.server.KV().FirstRev()
}

// watch reads the stream of the multi-version store. A write is in the stream
// before it is acknowledged.
func (e *embedded) watch(ctx context.Context, w *watch, revision int64) error {
	if oldest := e.oldest(ctx); revision+1 < oldest {
		return &store.CompactedError{Oldest: oldest}
	}
	stream := e.server.KV().NewWatchStream()
	defer stream.Close()
	start, end := prefixRange(w.prefix)
	if len(end) == 1 && end[0] == 0 {
		end = []byte{} // the store's own notation for no end
	}
	id, err := stream.Watch(ctx, clientv3.AutoWatchID, start, end, revision+1)
	if err != nil {
		return err
	}
	return pump(ctx, w, revision, feed[mvcc.WatchResponse]{
		responses:       stream.Chan(),
		decode:          decodeLocal,
		requestProgress: func() { stream.RequestProgress(id) },
	})
}

func decodeLocal(resp mvcc.WatchResponse) ([]store.Event, error) {
	if resp.CompactRevision != 0 {
		return nil, &store.CompactedError{Oldest: resp.CompactRevision}
	}
	return eventsOf(resp.Events, resp.Revision), nil
}

func (e *embedded) close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	if e.clients != nil {
		e.clients.Stop()
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		e.server.Stop()
	}()
	select {
	case <-stopped:
	case <-e.state.failed:
		// What failed is a goroutine of the server; Stop may wait for it in vain.
		select {
		case <-stopped:
		case <-time.After(closeTimeout):
		}
	}
	return e.lock.Close()
}
