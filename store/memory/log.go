package memory

import (
	"context"

	"github.com/kubesim/kubesim/store"
)

// The methods of this file need s.mu; only append and wake need it for writing.

// append makes the next revision.
func (s *Store) append(typ store.EventType, key string, value []byte, created bool) int64 {
	s.revision++
	event := store.Event{
		Type:     typ,
		KeyValue: store.KeyValue{Key: key, Value: value, Revision: s.revision},
		Created:  created,
	}
	s.log = append(s.log, event)
	s.index.add(event)
	s.wake()
	return s.revision
}

// since returns the log from revision on.
func (s *Store) since(revision int64) []store.Event {
	n := s.revision - revision + 1 // one event a revision
	return s.log[max(0, int64(len(s.log))-max(0, n)):]
}

// wake makes every watch look at the log again.
func (s *Store) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// usable says why the store can't serve a call.
func (s *Store) usable(ctx context.Context) error {
	if s.isClosed() {
		return store.ErrClosed
	}
	return ctx.Err()
}

func (s *Store) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// readable resolves the revision of a read, where 0 is the newest.
func (s *Store) readable(ctx context.Context, revision int64) (int64, error) {
	switch err := s.usable(ctx); {
	case err != nil:
		return 0, err
	case revision == 0:
		return s.revision, nil
	case revision < s.compacted:
		return 0, &store.CompactedError{Oldest: s.compacted}
	case revision > s.revision:
		return 0, &store.FutureRevisionError{Current: s.revision}
	}
	return revision, nil
}

// stands is the compare of compare-and-swap.
func (s *Store) stands(ctx context.Context, key string, revision int64) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	current, exists := s.index.get(key, s.revision)
	if !exists {
		return store.ErrNotFound
	}
	if current.Revision != revision {
		return &store.ConflictError{Current: current}
	}
	return nil
}
