package cache_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/store"
	"github.com/kubesim/kubesim/store/memory"
)

const stored = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","labels":{"app.kubernetes.io/name":"x"}},"data":{"k":"v"}}`

func TestSplice(t *testing.T) {
	for _, doc := range []string{stored, `{"kind":"A","metadata":{}}`, `{"metadata":{"name":"a"}}`} {
		e := cache.NewEntry(store.KeyValue{Key: "/registry/configmaps/d/a", Value: []byte(doc), Revision: 42})
		if got := string(e.Stored()); got != doc {
			t.Errorf("Stored() = %s, want %s", got, doc)
		}
		if got := e.Field("metadata.resourceVersion"); got != "42" {
			t.Errorf("resourceVersion of %s = %q, want 42", e.JSON, got)
		}
	}
}

func TestLabels(t *testing.T) {
	e := cache.NewEntry(store.KeyValue{Value: []byte(stored), Revision: 1})
	if got := e.Labels()["app.kubernetes.io/name"]; got != "x" {
		t.Errorf("label = %q, want x", got)
	}
}

// run fills a cache over a store and follows it until the test ends.
func run(t *testing.T, s store.Store) *cache.Cache {
	t.Helper()
	c := cache.New(s)
	if err := c.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return c
}

func create(t *testing.T, s store.Store, name string) int64 {
	t.Helper()
	rev, err := s.Create(t.Context(), "/registry/configmaps/d/"+name, []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"`+name+`"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

// What was acknowledged is seen after Sync, and a snapshot stays as it was.
func TestSyncAndSnapshot(t *testing.T) {
	s := memory.New()
	defer s.Close()
	create(t, s, "a")
	c := run(t, s)
	before := c.Resource("/registry/configmaps/").Snapshot()
	rev := create(t, s, "b")
	if err := c.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.Revision() < rev {
		t.Errorf("revision %d after Sync, want at least %d", c.Revision(), rev)
	}
	count := func(snapshot cache.Snapshot) (n int) {
		snapshot.Each("/registry/configmaps/d/", "", func(*cache.Entry) bool { n++; return true })
		return n
	}
	if n := count(before); n != 1 {
		t.Errorf("old snapshot has %d objects, want 1", n)
	}
	if n := count(c.Resource("/registry/configmaps/").Snapshot()); n != 2 {
		t.Errorf("new snapshot has %d objects, want 2", n)
	}
}

// Every cursor sees every event once and in order, at its own pace; one that
// lags too far loses its place instead of holding the others up.
func TestCursors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		defer s.Close()
		first := create(t, s, "first")
		c := run(t, s)
		r := c.Resource("/registry/configmaps/")
		slow, err := r.Watch(first)
		if err != nil {
			t.Fatal(err)
		}
		fast, err := r.Watch(first)
		if err != nil {
			t.Fatal(err)
		}
		const n = 17000 // more than twice the window
		last, seen := first, 0
		for i := range n {
			create(t, s, fmt.Sprint(i))
			if i%1000 != 0 && i != n-1 {
				continue
			}
			synctest.Wait()
			events, _, err := fast.Next()
			if err != nil {
				t.Fatal(err)
			}
			for _, ev := range events {
				if ev.Revision <= last {
					t.Fatalf("revision %d after %d", ev.Revision, last)
				}
				last, seen = ev.Revision, seen+1
			}
		}
		if seen != n {
			t.Errorf("saw %d events, want %d", seen, n)
		}
		if _, _, err := slow.Next(); !errors.Is(err, cache.ErrExpired) {
			t.Errorf("slow cursor: %v, want ErrExpired", err)
		}
		if _, err := r.Watch(first); !errors.Is(err, cache.ErrExpired) {
			t.Errorf("watch from the start: %v, want ErrExpired", err)
		}
	})
}

// The last state of a deleted object carries the revision of the deletion.
func TestDeletion(t *testing.T) {
	s := memory.New()
	defer s.Close()
	rev := create(t, s, "a")
	c := run(t, s)
	cursor, err := c.Resource("/registry/configmaps/").Watch(rev)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := s.Delete(t.Context(), "/registry/configmaps/d/a", rev)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, _, err := cursor.Next()
	if err != nil || len(events) != 1 {
		t.Fatalf("events %v, err %v", events, err)
	}
	ev := events[0]
	if !ev.Deleted || ev.Entry.Field("metadata.resourceVersion") != fmt.Sprint(gone) || ev.Prev.Revision != rev {
		t.Errorf("event %+v, entry %s", ev, ev.Entry.JSON)
	}
}
