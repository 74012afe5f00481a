package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubesim/kubesim/store"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// reader reads a watch and checks the order of what it delivers.
type reader struct {
	store.Watcher
	t        *testing.T
	revision int64 // all up to here was delivered
}

func watch(t *testing.T, s store.Store, prefix string, revision int64) *reader {
	return &reader{Watcher: s.Watch(t.Context(), prefix, revision), t: t, revision: revision}
}

// batch returns the changes of the next batch, false when the watch has ended.
func (r *reader) batch() ([]store.Event, bool) {
	r.t.Helper()
	select {
	case batch, open := <-r.Events():
		if open && len(batch) == 0 {
			r.t.Error("empty batch")
		}
		var changes []store.Event
		for _, event := range batch {
			progress := event.Type == store.Progress
			if event.Revision < r.revision || event.Revision == r.revision && !progress {
				r.t.Errorf("%s was delivered after revision %d", showEvent(event), r.revision)
			}
			r.revision = event.Revision
			if !progress {
				changes = append(changes, event)
			}
		}
		return changes, open
	case <-time.After(patience):
		r.t.Fatalf("watch was silent at revision %d", r.revision)
		return nil, false
	}
}

// until returns the changes up to revision.
func (r *reader) until(revision int64) []store.Event {
	r.t.Helper()
	var changes []store.Event
	for r.revision < revision {
		batch, open := r.batch()
		if !open {
			r.t.Fatalf("watch ended at revision %d, before %d: %v", r.revision, revision, r.Err())
		}
		changes = append(changes, batch...)
	}
	return changes
}

// wantEnd reads until the watch ends and returns its error.
func (r *reader) wantEnd(want error) error {
	r.t.Helper()
	for open := true; open; {
		_, open = r.batch()
	}
	wantErr(r.t, "end of the watch", r.Err(), want)
	return r.Err()
}

func (r *reader) want(revision int64, want ...string) {
	r.t.Helper()
	var got []string
	for _, event := range r.until(revision) {
		got = append(got, showEvent(event))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("events up to revision %d: %q, want %q", revision, got, want)
	}
}

// showEvent prints an event as + (created), ~ (updated) or - (deleted) and the pair.
func showEvent(event store.Event) string {
	sign := "~"
	switch {
	case event.Type == store.Progress:
		sign = "progress "
	case event.Type == store.Delete:
		sign = "-"
	case event.Created:
		sign = "+"
	}
	return sign + show(event.KeyValue)
}
