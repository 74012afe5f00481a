package memory

import (
	"iter"
	"slices"
	"strings"

	"github.com/google/btree"

	"github.com/kubesim/kubesim/store"
)

// index finds the version of a key, or of all keys with a prefix, that stood at a revision.
type index struct{ keys *btree.BTreeG[*history] }

// history is what became of one key.
type history struct {
	key      string
	versions []store.Event // by rising revision; never empty
}

func newIndex() index {
	const degree = 32
	return index{btree.NewG(degree, func(a, b *history) bool { return a.key < b.key })}
}

func (x index) add(event store.Event) {
	if h, known := x.keys.Get(&history{key: event.Key}); known {
		h.versions = append(h.versions, event)
		return
	}
	x.keys.ReplaceOrInsert(&history{key: event.Key, versions: []store.Event{event}})
}

func (x index) get(key string, revision int64) (store.KeyValue, bool) {
	h, known := x.keys.Get(&history{key: key})
	if !known {
		return store.KeyValue{}, false
	}
	return h.at(revision)
}

// scan yields the keys with the prefix that are greater than after, in order.
func (x index) scan(prefix, after string, revision int64) iter.Seq[store.KeyValue] {
	return func(yield func(store.KeyValue) bool) {
		from := &history{key: max(prefix, after)}
		x.keys.AscendGreaterOrEqual(from, func(h *history) bool {
			if !strings.HasPrefix(h.key, prefix) {
				return false
			}
			kv, exists := h.at(revision)
			return !exists || h.key == after || yield(kv)
		})
	}
}

// compact forgets the versions that no read at revision or later can see.
func (x index) compact(revision int64) {
	var gone []*history
	x.keys.Ascend(func(h *history) bool {
		first := h.position(revision)
		if first >= 0 && h.versions[first].Type == store.Delete {
			first++
		}
		h.versions = slices.Clone(h.versions[max(0, first):])
		if len(h.versions) == 0 {
			gone = append(gone, h)
		}
		return true
	})
	for _, h := range gone {
		x.keys.Delete(h)
	}
}

// at returns what the key held at revision, false when it did not exist.
func (h *history) at(revision int64) (store.KeyValue, bool) {
	i := h.position(revision)
	if i < 0 || h.versions[i].Type == store.Delete {
		return store.KeyValue{}, false
	}
	return h.versions[i].KeyValue, true
}

// position is that of the newest version at or before revision, or -1. It
// searches from the end since nearly all reads are of the newest revision.
func (h *history) position(revision int64) int {
	i := len(h.versions) - 1
	for i >= 0 && h.versions[i].Revision > revision {
		i--
	}
	return i
}
