package memory

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/kubesim/kubesim/store"
)

// Store is a store.Store in memory. Make it with New.
type Store struct {
	mu        sync.RWMutex
	revision  int64         // of the newest write
	compacted int64         // the oldest revision that can be read, 0 for all
	log       []store.Event // one a revision, up to revision without a gap
	index     index
	changed   chan struct{} // closed, and replaced, by each write and compaction
	closed    chan struct{}
	watches   sync.WaitGroup
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{
		revision: 1,
		index:    newIndex(),
		changed:  make(chan struct{}),
		closed:   make(chan struct{}),
	}
}

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, key string, value []byte) (int64, error) {
	if len(value) > store.MaxValueSize {
		return 0, store.ErrTooLarge
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	if _, exists := s.index.get(key, s.revision); exists {
		return 0, store.ErrExists
	}
	return s.append(store.Put, key, bytes.Clone(value), true), nil
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string, revision int64) (store.KeyValue, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	revision, err := s.readable(ctx, revision)
	if err != nil {
		return store.KeyValue{}, err
	}
	kv, exists := s.index.get(key, revision)
	if !exists {
		return store.KeyValue{}, store.ErrNotFound
	}
	return kv, nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string, opts store.ListOptions) (store.ListResult, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	revision, err := s.readable(ctx, opts.Revision)
	if err != nil {
		return store.ListResult{}, err
	}
	result := store.ListResult{Revision: revision}
	for kv := range s.index.scan(prefix, opts.After, revision) {
		if opts.Limit > 0 && len(result.Items) == opts.Limit {
			result.Remaining++
			continue
		}
		result.Items = append(result.Items, kv)
	}
	return result, nil
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, key string, value []byte, revision int64) (int64, error) {
	if len(value) > store.MaxValueSize {
		return 0, store.ErrTooLarge
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stands(ctx, key, revision); err != nil {
		return 0, err
	}
	return s.append(store.Put, key, bytes.Clone(value), false), nil
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string, revision int64) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stands(ctx, key, revision); err != nil {
		return 0, err
	}
	return s.append(store.Delete, key, nil, false), nil
}

// Current implements store.Store.
func (s *Store) Current(ctx context.Context) (int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.revision, s.usable(ctx)
}

// Compact implements store.Store.
func (s *Store) Compact(ctx context.Context, revision int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	if revision <= s.compacted {
		return &store.CompactedError{Oldest: s.compacted}
	}
	if revision > s.revision {
		return &store.FutureRevisionError{Current: s.revision}
	}
	s.compacted = revision
	s.index.compact(revision)
	s.log = slices.Clone(s.since(revision))
	s.wake()
	return nil
}

// Close implements store.Store. It returns when the last watch has ended.
func (s *Store) Close() error {
	s.mu.Lock()
	if !s.isClosed() {
		close(s.closed)
	}
	s.mu.Unlock()
	s.watches.Wait()
	return nil
}
