package storetest

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/store"
)

// model is what a store should hold: a map for each revision.
type model struct {
	first  int64 // revision of states[0]
	oldest int64 // that was not compacted
	states []map[string]store.KeyValue
	events []string // of all revisions after first
}

func (m *model) newest() map[string]store.KeyValue { return m.states[len(m.states)-1] }
func (m *model) revision() int64                   { return m.first + int64(len(m.states)) - 1 }

// write makes the next revision; a nil value deletes.
func (m *model) write(key string, value []byte) {
	next := maps.Clone(m.newest())
	kv := store.KeyValue{Key: key, Value: value, Revision: m.revision() + 1}
	event := store.Event{KeyValue: kv}
	if value == nil {
		delete(next, key)
		event.Type = store.Delete
	} else {
		_, exists := next[key]
		event.Created = !exists
		next[key] = kv
	}
	m.states = append(m.states, next)
	m.events = append(m.events, showEvent(event))
}

// refuses returns the error of a swap of key at revision, nil if it goes through.
func (m *model) refuses(key string, revision int64) error {
	kv, exists := m.newest()[key]
	switch {
	case !exists:
		return store.ErrNotFound
	case kv.Revision != revision:
		return &store.ConflictError{Current: kv}
	}
	return nil
}

// list does as Store.List, the slow and obvious way.
func (m *model) list(prefix string, opts store.ListOptions) store.ListResult {
	result := store.ListResult{Revision: opts.Revision}
	if result.Revision == 0 {
		result.Revision = m.revision()
	}
	state := m.states[result.Revision-m.first]
	for _, key := range slices.Sorted(maps.Keys(state)) {
		switch {
		case !strings.HasPrefix(key, prefix) || key <= opts.After:
		case opts.Limit > 0 && len(result.Items) == opts.Limit:
			result.Remaining++
		default:
			result.Items = append(result.Items, state[key])
		}
	}
	return result
}

// follow reads w up to the newest revision and compares it with the model.
func (m *model) follow(w *reader) {
	w.t.Helper()
	w.want(m.revision(), m.events[w.revision-m.first:]...)
}
