package memory

import (
	"context"
	"strings"

	"github.com/kubesim/kubesim/store"
)

// batchScan is how many events of the log one batch covers at most; it bounds
// how long a watch that starts far back holds the lock.
const batchScan = 1000

// watch follows the log on behalf of one reader.
type watch struct {
	store    *Store
	prefix   string
	revision int64 // up to here the reader has seen the log
	events   chan []store.Event
	err      error // set before events is closed
}

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, prefix string, revision int64) store.Watcher {
	w := &watch{store: s, prefix: prefix, revision: revision, events: make(chan []store.Event)}
	// A watch counts as open only while the store is not closed, so that
	// Close does not wait while the count still grows.
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		w.err = err
		close(w.events)
		return w
	}
	s.watches.Go(func() { w.run(ctx) })
	return w
}

// Events implements store.Watcher.
func (w *watch) Events() <-chan []store.Event { return w.events }

// Err implements store.Watcher.
func (w *watch) Err() error { return w.err }

func (w *watch) run(ctx context.Context) {
	defer close(w.events)
	for first := true; w.err == nil; first = false {
		batch, changed, err := w.next(first)
		if err != nil {
			w.err = err
			return
		}
		var deliver chan<- []store.Event // nil blocks: either there is a batch to deliver
		if len(batch) > 0 {
			deliver, changed = w.events, nil // or a change to wait for
		}
		select {
		case deliver <- batch:
		case <-changed:
		case <-ctx.Done():
			w.err = ctx.Err()
		case <-w.store.closed:
			w.err = store.ErrClosed
		}
	}
}

// next reads on in the log. The batch is empty when there is nothing new
// until changed is closed.
func (w *watch) next(first bool) (batch []store.Event, changed <-chan struct{}, err error) {
	s := w.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	if w.revision+1 < s.compacted {
		return nil, nil, &store.CompactedError{Oldest: s.compacted}
	}
	news := s.since(w.revision + 1)
	news = news[:min(len(news), batchScan)]
	for _, event := range news {
		if strings.HasPrefix(event.Key, w.prefix) {
			batch = append(batch, event)
		}
		w.revision = event.Revision
	}
	// Without a last event of its own the reader still learns how far the log went.
	silent := len(batch) == 0 || batch[len(batch)-1].Revision < w.revision
	if silent && (len(news) > 0 || first && w.revision <= s.revision) {
		batch = append(batch, store.Event{Type: store.Progress, KeyValue: store.KeyValue{Revision: w.revision}})
	}
	return batch, s.changed, nil
}
