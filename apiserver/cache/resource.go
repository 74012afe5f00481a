package cache

import (
	"errors"
	"sort"
	"strings"
	"sync"

	"github.com/google/btree"

	"github.com/kubesim/kubesim/store"
)

// windowSize is how many events of a resource are kept for watchers that start
// in the past or lag behind.
const windowSize = 8192

// ErrExpired means that the events a cursor wants are no longer in the window.
var ErrExpired = errors.New("events are no longer in the window")

// Resource is the cache of one resource: one prefix of keys.
type Resource struct {
	prefix string

	mu       sync.RWMutex
	objects  *btree.BTreeG[*Entry]
	window   []*Event // the last events, oldest first
	dropped  int      // how many events came before the window
	oldest   int64    // all events after this revision are in the window
	revision int64    // of the cache, when this resource last changed
	changed  chan struct{}
}

func newResource(prefix string, revision int64) *Resource {
	less := func(a, b *Entry) bool { return a.Key < b.Key }
	return &Resource{prefix: prefix, objects: btree.NewG(32, less), oldest: revision, revision: revision, changed: make(chan struct{})}
}

// Get returns the object under a key, nil if there is none.
func (r *Resource) Get(key string) *Entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, _ := r.objects.Get(&Entry{Key: key})
	return e
}

// Len is the number of objects.
func (r *Resource) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.objects.Len()
}

// Snapshot is the objects of a resource at one revision.
type Snapshot struct {
	objects *btree.BTreeG[*Entry]
	// Revision of the last change in it.
	Revision int64
}

// Snapshot returns the objects as they are now.
func (r *Resource) Snapshot() Snapshot {
	r.mu.Lock() // Clone marks the tree as shared
	defer r.mu.Unlock()
	return Snapshot{r.objects.Clone(), r.revision}
}

// Each calls f with the objects whose key begins with prefix and lies behind
// after, in key order, until it returns false.
func (s Snapshot) Each(prefix, after string, f func(*Entry) bool) {
	from := prefix
	if after > from {
		from = after + "\x00"
	}
	s.objects.AscendGreaterOrEqual(&Entry{Key: from}, func(e *Entry) bool {
		return strings.HasPrefix(e.Key, prefix) && f(e)
	})
}

// applyAll takes over events of the store and wakes the cursors.
func (r *Resource) applyAll(events []store.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range events {
		r.apply(ev)
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Resource) apply(ev store.Event) {
	key := &Entry{Key: ev.Key}
	prev, _ := r.objects.Get(key)
	if ev.Type == store.Delete && prev == nil {
		return
	}
	e := NewEvent(ev, prev)
	if e.Deleted {
		r.objects.Delete(key)
	} else {
		r.objects.ReplaceOrInsert(e.Entry)
	}
	r.revision = ev.Revision
	r.window = append(r.window, e)
	if len(r.window) >= 2*windowSize {
		r.forget(len(r.window) - windowSize)
	}
}

// forget drops the n oldest events.
func (r *Resource) forget(n int) {
	if n == 0 {
		return
	}
	r.oldest = r.window[n-1].Revision
	r.window = append([]*Event(nil), r.window[n:]...)
	r.dropped += n
}

func (r *Resource) forgetUntil(revision int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(sort.Search(len(r.window), func(i int) bool { return r.window[i].Revision > revision }))
}

// Cursor is a watcher's place in the window.
type Cursor struct {
	r    *Resource
	next int // number of the next event, counted from the first ever
}

// Watch returns a cursor at the events after revision, or ErrExpired.
func (r *Resource) Watch(revision int64) (*Cursor, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.cursor(revision)
}

func (r *Resource) cursor(revision int64) (*Cursor, error) {
	if revision < r.oldest {
		return nil, ErrExpired
	}
	i := sort.Search(len(r.window), func(i int) bool { return r.window[i].Revision > revision })
	return &Cursor{r, r.dropped + i}, nil
}

// WatchSnapshot returns the objects as they are now and a cursor at what follows.
func (r *Resource) WatchSnapshot() (Snapshot, *Cursor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Snapshot{r.objects.Clone(), r.revision}, &Cursor{r, r.dropped + len(r.window)}
}

// Next returns the events from the cursor on and moves it behind them, with a
// channel that is closed when there are more. The events must not be changed.
func (c *Cursor) Next() ([]*Event, <-chan struct{}, error) {
	c.r.mu.RLock()
	defer c.r.mu.RUnlock()
	i := c.next - c.r.dropped
	if i < 0 {
		return nil, nil, ErrExpired
	}
	events := c.r.window[i:len(c.r.window):len(c.r.window)]
	c.next += len(events)
	return events, c.r.changed, nil
}

// Changed returns a channel that is closed at the next change.
func (r *Resource) Changed() <-chan struct{} {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.changed
}

// Oldest is the revision after which all events are in the window.
func (r *Resource) Oldest() int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.oldest
}

// After counts the events after revision that are in the window.
func (r *Resource) After(revision int64) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.window) - sort.Search(len(r.window), func(i int) bool { return r.window[i].Revision > revision })
}
