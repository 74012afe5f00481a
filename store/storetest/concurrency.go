package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/kubesim/kubesim/store"
)

func testCounters(t *testing.T, s store.Store) {
	const workers, rounds = 16, 20
	create(t, s, "/counter", "0")
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range rounds {
				if err := increment(t.Context(), s, "/counter"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	kv, err := s.Get(t.Context(), "/counter", 0)
	if want := strconv.Itoa(workers * rounds); err != nil || string(kv.Value) != want {
		t.Errorf("counter is %s, %v, want %s", kv.Value, err, want)
	}
}

// increment adds one, starting over from the pair in each conflict.
func increment(ctx context.Context, s store.Store, key string) error {
	kv, err := s.Get(ctx, key, 0)
	for err == nil {
		n, _ := strconv.Atoi(string(kv.Value))
		_, err = s.Update(ctx, key, []byte(strconv.Itoa(n+1)), kv.Revision)
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) {
			return err
		}
		if conflict.Current.Revision <= kv.Revision {
			return fmt.Errorf("conflict of revision %d with the older %s", kv.Revision, show(conflict.Current))
		}
		kv, err = conflict.Current, nil
	}
	return err
}

func testWatchConcurrent(t *testing.T, s store.Store) {
	const workers, each = 8, 50
	start := current(t, s)
	var wg sync.WaitGroup
	readers := []*reader{watch(t, s, "/", start)}
	for worker := range workers {
		wg.Go(func() {
			for i := range each {
				key := fmt.Sprintf("/%d/%d", worker, i)
				r, err := s.Create(t.Context(), key, nil)
				if err == nil {
					_, err = s.Delete(t.Context(), key, r)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
		readers = append(readers, watch(t, s, "/", start))
	}
	wg.Wait()
	for _, r := range readers {
		next := start + 1
		for _, event := range r.until(start + 2*workers*each) {
			if event.Revision != next {
				t.Fatalf("%s was delivered where revision %d was due", showEvent(event), next)
			}
			next++
		}
	}
}

func testIdleWatcher(t *testing.T, s store.Store) {
	start := current(t, s)
	for range 10 {
		s.Watch(t.Context(), "/", start) // and never read
	}
	const n = 2000
	active := watch(t, s, "/", start)
	for i := range n {
		create(t, s, fmt.Sprint("/", i), "")
	}
	if got := active.until(start + n); len(got) != n {
		t.Errorf("watch saw %d events, want %d", len(got), n)
	}
}

func testClose(t *testing.T, s store.Store) {
	start := create(t, s, "/a", "")
	read, unread := watch(t, s, "/", start), watch(t, s, "/", start-1)
	create(t, s, "/b", "")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	read.wantEnd(store.ErrClosed)
	unread.wantEnd(store.ErrClosed)
	watch(t, s, "/", start).wantEnd(store.ErrClosed)

	_, createErr := s.Create(t.Context(), "/c", nil)
	_, getErr := s.Get(t.Context(), "/a", 0)
	_, listErr := s.List(t.Context(), "/", store.ListOptions{})
	_, currentErr := s.Current(t.Context())
	for _, err := range []error{createErr, getErr, listErr, currentErr, s.Compact(t.Context(), start)} {
		wantErr(t, "call after close", err, store.ErrClosed)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}
