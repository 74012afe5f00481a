package apiserver

import (
	"strings"
	"sync"

	"github.com/kubesim/kubesim/apiserver/cache"
)

// follower hears of every change to the objects of one resource of the cluster's
// scope, when it is asked to catch up with the cache.
type follower struct {
	cache  *cache.Cache
	prefix string // of the keys
	take   func(name string, e *cache.Entry)
	drop   func(name string)

	// mu is held during the calls of take and drop, and guards what they keep.
	mu     sync.Mutex
	cursor *cache.Cursor
	names  map[string]bool
}

func newFollower(s *Server, group, version, resource string) *follower {
	return &follower{cache: s.cache, prefix: s.table.get(group, version, resource).prefix, names: map[string]bool{}}
}

// resource is what is followed. It must not be asked for before the cache is filled.
func (f *follower) resource() *cache.Resource { return f.cache.Resource(f.prefix) }

// catchUp hears of what is new in the cache, which costs little when nothing is.
func (f *follower) catchUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cursor == nil {
		f.restart()
	}
	for {
		events, _, err := f.cursor.Next()
		if err != nil { // too much has happened meanwhile
			f.restart()
			continue
		}
		if len(events) == 0 {
			return
		}
		for _, ev := range events {
			if name := strings.TrimPrefix(ev.Entry.Key, f.prefix); ev.Deleted {
				f.forget(name)
			} else {
				f.hear(name, ev.Entry)
			}
		}
	}
}

// restart hears of all objects as they are now.
func (f *follower) restart() {
	snapshot, cursor := f.resource().WatchSnapshot()
	f.cursor = cursor
	there := map[string]bool{}
	snapshot.Each(f.prefix, "", func(e *cache.Entry) bool {
		name := strings.TrimPrefix(e.Key, f.prefix)
		there[name] = true
		f.hear(name, e)
		return true
	})
	for name := range f.names {
		if !there[name] {
			f.forget(name)
		}
	}
}

func (f *follower) hear(name string, e *cache.Entry) {
	f.names[name] = true
	f.take(name, e)
}

func (f *follower) forget(name string) {
	delete(f.names, name)
	f.drop(name)
}
