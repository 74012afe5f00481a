package cache

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubesim/kubesim/store"
)

// Prefix is where all objects live in the store.
const Prefix = "/registry/"

// listPage is how many objects are read at once when the cache fills.
const listPage = 2000

// Cache is the view of all resources.
type Cache struct {
	store store.Store

	filled   int64 // revision that Fill read
	revision atomic.Int64
	mu       sync.Mutex // guards what follows; held while a batch is applied
	advanced chan struct{}
	all      sync.Map // prefix of a resource -> *Resource
	failed   error    // why Run ended
}

// New returns an empty cache over a store. Fill reads it in, Run keeps it up to date.
func New(s store.Store) *Cache {
	return &Cache{store: s, advanced: make(chan struct{})}
}

// Fill reads the whole registry at one revision.
func (c *Cache) Fill(ctx context.Context) error {
	opts := store.ListOptions{Limit: listPage}
	for {
		page, err := c.store.List(ctx, Prefix, opts)
		if err != nil {
			return fmt.Errorf("reading the registry: %w", err)
		}
		opts.Revision = page.Revision
		c.filled = page.Revision
		c.revision.Store(page.Revision)
		for _, kv := range page.Items {
			c.Resource(prefixOf(kv.Key)).objects.ReplaceOrInsert(NewEntry(kv))
			opts.After = kv.Key
		}
		if page.Remaining == 0 || len(page.Items) == 0 {
			return nil
		}
	}
}

// Run follows the store until ctx ends or the watch fails, and says why.
func (c *Cache) Run(ctx context.Context) error {
	w := c.store.Watch(ctx, Prefix, c.revision.Load())
	for batch := range w.Events() {
		c.apply(batch)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = fmt.Errorf("the watch on the store ended: %w", w.Err())
	close(c.advanced)
	return w.Err()
}

// apply takes over a batch. Events of one resource that follow each other are
// taken over in one go, since each go wakes the resource's watchers.
func (c *Cache) apply(batch []store.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for start := 0; start < len(batch); {
		end := start + 1
		if batch[start].Type != store.Progress {
			prefix := prefixOf(batch[start].Key)
			for end < len(batch) && batch[end].Type != store.Progress && strings.HasPrefix(batch[end].Key, prefix) {
				end++
			}
			c.Resource(prefix).applyAll(batch[start:end])
		}
		c.revision.Store(max(c.revision.Load(), batch[end-1].Revision))
		start = end
	}
	close(c.advanced)
	c.advanced = make(chan struct{})
}

// Revision is the newest revision that the cache has seen.
func (c *Cache) Revision() int64 { return c.revision.Load() }

// Wait returns once the cache has seen revision, or ctx ends.
func (c *Cache) Wait(ctx context.Context, revision int64) error {
	for c.revision.Load() < revision {
		c.mu.Lock()
		advanced, failed := c.advanced, c.failed
		c.mu.Unlock()
		if failed != nil {
			return failed
		}
		if c.revision.Load() >= revision {
			return nil
		}
		select {
		case <-advanced:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Sync waits until the cache has seen every write acknowledged before the call.
func (c *Cache) Sync(ctx context.Context) error {
	revision, err := c.store.Current(ctx)
	if err != nil {
		return err
	}
	return c.Wait(ctx, revision)
}

// Resource returns the cache of the resource under a prefix such as
// "/registry/pods/"; an unknown one is empty.
func (c *Cache) Resource(prefix string) *Resource {
	if r, ok := c.all.Load(prefix); ok {
		return r.(*Resource)
	}
	r, _ := c.all.LoadOrStore(prefix, newResource(prefix, c.filled))
	return r.(*Resource)
}

// Forget drops the events at or before revision, which the store has compacted.
func (c *Cache) Forget(revision int64) {
	c.all.Range(func(_, r any) bool {
		r.(*Resource).forgetUntil(revision)
		return true
	})
}

// prefixOf is the resource's part of a key: "/registry/pods/" of
// "/registry/pods/default/web".
func prefixOf(key string) string {
	rest := strings.TrimPrefix(key, Prefix)
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		rest = rest[:i+1]
	}
	return key[:len(Prefix)] + rest
}
