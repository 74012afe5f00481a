package etcd

import (
	"context"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubesim/kubesim/store"
)

// backend is what an embedded server and an external cluster do differently.
type backend interface {
	Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error)
	Txn(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error)
	Compact(context.Context, *pb.CompactionRequest) (*pb.CompactionResponse, error)
	// current returns the newest revision.
	current(ctx context.Context) (int64, error)
	// oldest returns the revision of the last compaction, 0 when it can't tell.
	oldest(ctx context.Context) int64
	// watch serves w with the events after revision until ctx ends or the watch fails.
	watch(ctx context.Context, w *watch, revision int64) error
	close() error
}

// Store is a store.Store on etcd. Make it with Open.
type Store struct {
	backend backend
	state   *state

	mu      sync.Mutex
	closed  bool
	watches map[*watch]struct{}
	running sync.WaitGroup // watches
}

var _ store.Store = (*Store)(nil)

// Open starts the embedded server, or connects to the external cluster, and
// returns when it can serve. ctx bounds the opening only.
func Open(ctx context.Context, config Config) (*Store, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	open := openEmbedded
	if len(config.Endpoints) > 0 {
		open = openExternal
	}
	state := newState()
	b, err := open(ctx, config, state)
	if err != nil {
		return nil, err
	}
	return &Store{backend: b, state: state, watches: map[*watch]struct{}{}}, nil
}

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, key string, value []byte) (int64, error) {
	revision, _, err := s.swap(ctx, key, 0, put(key, value))
	if revision == 0 && err == nil {
		err = store.ErrExists
	}
	return revision, err
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, key string, value []byte, revision int64) (int64, error) {
	return s.swapExisting(ctx, key, revision, put(key, value))
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string, revision int64) (int64, error) {
	return s.swapExisting(ctx, key, revision, remove(key))
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string, revision int64) (store.KeyValue, error) {
	resp, err := s.read(ctx, &pb.RangeRequest{Key: []byte(key), Revision: revision})
	if err != nil {
		return store.KeyValue{}, err
	}
	if len(resp.Kvs) == 0 {
		return store.KeyValue{}, store.ErrNotFound
	}
	return keyValue(resp.Kvs[0]), nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string, opts store.ListOptions) (store.ListResult, error) {
	start, end := prefixRange(prefix)
	if opts.After >= prefix {
		start = []byte(opts.After + "\x00") // the next key in byte order
	}
	resp, err := s.read(ctx, &pb.RangeRequest{
		Key: start, RangeEnd: end, Limit: int64(opts.Limit), Revision: opts.Revision,
	})
	if err != nil {
		return store.ListResult{}, err
	}
	result := store.ListResult{
		Items:     make([]store.KeyValue, len(resp.Kvs)),
		Revision:  opts.Revision,
		Remaining: resp.Count - int64(len(resp.Kvs)),
	}
	if opts.Revision == 0 {
		result.Revision = resp.Header.Revision
	}
	for i, kv := range resp.Kvs {
		result.Items[i] = keyValue(kv)
	}
	return result, nil
}

// Current implements store.Store. Watches that are behind ask etcd for
// progress, as no event may come for them.
func (s *Store) Current(ctx context.Context) (int64, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	revision, err := s.backend.current(ctx)
	if err != nil {
		return 0, s.explain(ctx, err, 0)
	}
	s.state.raise(revision)
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		w.catchUp(revision)
	}
	return revision, nil
}

// Compact implements store.Store.
func (s *Store) Compact(ctx context.Context, revision int64) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	_, err := s.backend.Compact(ctx, &pb.CompactionRequest{Revision: revision})
	return s.explain(ctx, err, revision)
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	for w := range s.watches {
		w.cancel(store.ErrClosed)
	}
	s.mu.Unlock()
	s.running.Wait()
	return s.backend.close()
}

// usable says why the store can't serve a call.
func (s *Store) usable(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	if err := s.state.failure(); err != nil {
		return err
	}
	return ctx.Err()
}

func (s *Store) read(ctx context.Context, req *pb.RangeRequest) (*pb.RangeResponse, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	resp, err := s.backend.Range(ctx, req)
	if err != nil {
		return nil, s.explain(ctx, err, req.Revision)
	}
	s.state.raise(resp.Header.Revision)
	return resp, nil
}

// prefixRange returns the half-open range of the keys that begin with prefix.
func prefixRange(prefix string) (start, end []byte) {
	if prefix == "" {
		return []byte{0}, []byte{0} // etcd's notation for all keys
	}
	return []byte(prefix), []byte(clientv3.GetPrefixRangeEnd(prefix))
}
