package cache

import (
	"sync"

	"github.com/kubesim/kubesim/store"
)

// Event is one change of one object. It is shared by all watchers.
type Event struct {
	Revision int64
	// Entry is the object after the change; after a deletion its last state
	// under the revision of the deletion.
	Entry   *Entry
	Prev    *Entry // the object before, nil for a new one
	Deleted bool

	mu    sync.Mutex
	forms map[string][]byte
	left  *Entry
}

// NewEvent makes an event of a store's, given the object before.
func NewEvent(ev store.Event, prev *Entry) *Event {
	e := &Event{Revision: ev.Revision, Prev: prev, Deleted: ev.Type == store.Delete}
	if e.Deleted {
		e.Entry = prev.at(ev.Revision)
	} else {
		e.Entry = NewEntry(ev.KeyValue)
	}
	return e
}

// Left is the previous state under this event's revision, for a watcher whose
// selection the object left.
func (e *Event) Left() *Entry {
	if e.Deleted {
		return e.Entry
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.left == nil {
		e.left = e.Prev.at(e.Revision)
	}
	return e.left
}

// Form returns the bytes that encode made for this event under the given name
// before, or calls it. It is called once a name, whoever asks first.
func (e *Event) Form(name string, encode func() ([]byte, error)) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b, ok := e.forms[name]; ok {
		return b, nil
	}
	b, err := encode()
	if err != nil {
		return nil, err
	}
	if e.forms == nil {
		e.forms = map[string][]byte{}
	}
	e.forms[name] = b
	return b, nil
}
