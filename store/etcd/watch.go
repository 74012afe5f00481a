package etcd

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/kubesim/kubesim/store"
)

const (
	// maxPending is how many events wait for a slow reader before etcd is left
	// to hold the rest, which it reads from its log again when there is room.
	maxPending = 1000
	// progressDelay gives the event that is on its way a chance to come first.
	progressDelay = time.Millisecond
	// progressRetry repeats a request that etcd dropped: it does so while it
	// has older events to send.
	progressRetry = 20 * time.Millisecond
)

var errStreamEnded = errors.New("etcd: watch stream ended")

// watch is an open watch: a goroutine between etcd's stream and the reader.
type watch struct {
	prefix    string
	events    chan []store.Event
	cancel    context.CancelCauseFunc
	err       error         // set before events is closed
	delivered atomic.Int64  // the newest revision handed to the reader, or pending
	behind    chan struct{} // has room for one request to catch up
	state     *state
}

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, prefix string, revision int64) store.Watcher {
	w := &watch{
		prefix: prefix,
		events: make(chan []store.Event),
		behind: make(chan struct{}, 1),
		state:  s.state,
	}
	if err := s.usable(ctx); err != nil {
		return w.end(err)
	}
	inner, cancel := context.WithCancelCause(ctx)
	w.cancel = cancel
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return w.end(store.ErrClosed)
	}
	s.watches[w] = struct{}{}
	s.running.Go(func() {
		err := s.backend.watch(inner, w, revision)
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case inner.Err() != nil:
			err = context.Cause(inner) // the store's reason to end the watch
		}
		cancel(nil)
		s.mu.Lock()
		delete(s.watches, w)
		s.mu.Unlock()
		w.end(err)
	})
	return w
}

func (w *watch) end(err error) *watch {
	w.err = err
	close(w.events)
	return w
}

// Events implements store.Watcher.
func (w *watch) Events() <-chan []store.Event { return w.events }

// Err implements store.Watcher.
func (w *watch) Err() error { return w.err }

// catchUp makes the watch deliver revision or a later one soon.
func (w *watch) catchUp(revision int64) {
	if w.delivered.Load() >= revision {
		return
	}
	select {
	case w.behind <- struct{}{}:
	default: // has been asked already
	}
}

// feed is etcd's end of a watch, in-process or remote.
type feed[R any] struct {
	responses <-chan R
	// decode returns a response's events. One without a change of a key is
	// turned into a Progress event.
	decode func(R) ([]store.Event, error)
	// requestProgress asks for a response without events once all others
	// have been sent.
	requestProgress func()
}

// pump moves events from the feed, which begins after revision, to the reader
// until ctx ends or the feed fails.
func pump[R any](ctx context.Context, w *watch, revision int64, f feed[R]) error {
	pending := w.begin(revision)
	var retry <-chan time.Time
	for {
		responses, events := f.responses, w.events
		if len(pending) == 0 {
			events = nil
		}
		if len(pending) >= maxPending {
			responses = nil
		}
		select {
		case events <- pending:
			pending = nil
		case response, open := <-responses:
			if !open {
				return errStreamEnded
			}
			batch, err := f.decode(response)
			if err != nil {
				return err
			}
			pending = append(pending, batch...)
			w.advance(batch)
		case <-w.behind:
			if retry == nil {
				retry = time.After(progressDelay)
			}
		case <-retry:
			retry = nil
			if w.delivered.Load() < w.state.newest.Load() {
				f.requestProgress()
				retry = time.After(progressRetry)
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-w.state.failed:
			return w.state.failure()
		}
	}
}

// begin is what the reader has before the first response: progress at the
// start revision, for which etcd has no response.
func (w *watch) begin(revision int64) []store.Event {
	if revision > w.state.newest.Load() {
		return nil // in the future
	}
	w.delivered.Store(revision)
	return eventsOf(nil, revision)
}

func (w *watch) advance(batch []store.Event) {
	if len(batch) == 0 {
		return
	}
	newest := batch[len(batch)-1].Revision
	w.delivered.Store(newest)
	w.state.raise(newest)
}

// eventsOf translates a response; revision is how far a response without events reaches.
func eventsOf(events []*mvccpb.Event, revision int64) []store.Event {
	if len(events) == 0 {
		return []store.Event{{Type: store.Progress, KeyValue: store.KeyValue{Revision: revision}}}
	}
	batch := make([]store.Event, len(events))
	for i, e := range events {
		batch[i] = store.Event{KeyValue: keyValue(e.Kv), Created: e.IsCreate()}
		if e.Type == mvccpb.Event_DELETE {
			batch[i].Type = store.Delete
			batch[i].Value = nil
		}
	}
	return batch
}
