package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/kubesim/kubesim/store"
)

// writes makes four revisions and returns them with the events that tell of them.
func writes(t *testing.T, s store.Store, key string) (revisions []int64, events []string) {
	t.Helper()
	r1 := create(t, s, key, "1")
	r2 := update(t, s, key, "2", r1)
	r3 := remove(t, s, key, r2)
	r4 := create(t, s, key, "3")
	return []int64{r1, r2, r3, r4}, []string{
		fmt.Sprintf("+%s=1@%d", key, r1), fmt.Sprintf("~%s=2@%d", key, r2),
		fmt.Sprintf("-%s=@%d", key, r3), fmt.Sprintf("+%s=3@%d", key, r4),
	}
}

func testWatchNow(t *testing.T, s store.Store) {
	create(t, s, "/before", "")
	w := watch(t, s, "/", current(t, s))
	revisions, events := writes(t, s, "/a")
	w.want(revisions[3], events...)
}

func testWatchPast(t *testing.T, s store.Store) {
	start := current(t, s)
	revisions, events := writes(t, s, "/a")
	var watches []*reader
	for i, revision := range append([]int64{start}, revisions...) {
		w := watch(t, s, "/", revision)
		w.want(revisions[3], events[i:]...)
		watches = append(watches, w)
	}
	next := create(t, s, "/next", "")
	for _, w := range watches {
		w.want(next, fmt.Sprintf("+/next=@%d", next)) // from the past into the present
	}
}

func testWatchFuture(t *testing.T, s store.Store) {
	w := watch(t, s, "/", current(t, s)+2)
	revisions, events := writes(t, s, "/a")
	w.want(revisions[3], events[2:]...)
}

func testWatchPrefix(t *testing.T, s store.Store) {
	start := current(t, s)
	narrow, wide := watch(t, s, "/a/", start), watch(t, s, "", start)
	for _, key := range []string{"/a", "/a/1", "/a0", "/b", "/a/2"} {
		create(t, s, key, "")
	}
	end := current(t, s)
	narrow.want(end, fmt.Sprintf("+/a/1=@%d", start+2), fmt.Sprintf("+/a/2=@%d", start+5))
	if got := wide.until(end); len(got) != 5 {
		t.Errorf("watch on all keys saw %d events, want 5", len(got))
	}
}

// Nothing that happens is of interest to these watches; after a Current they
// must still learn how far the log has come.
func testWatchProgress(t *testing.T, s store.Store) {
	start := current(t, s)
	fresh := watch(t, s, "/none/", start)
	fresh.want(current(t, s))
	create(t, s, "/a", "")
	late := watch(t, s, "/none/", start)
	for range 3 {
		create(t, s, fmt.Sprint("/b", current(t, s)), "")
		now := current(t, s)
		fresh.want(now)
		late.want(now)
	}
}

func testWatchManyEvents(t *testing.T, s store.Store) {
	const n = 3000 // more than any buffer on the way
	start := current(t, s)
	idle := watch(t, s, "/", start)
	for i := range n {
		create(t, s, fmt.Sprint("/", i), "")
	}
	for _, w := range []*reader{idle, watch(t, s, "/", start)} {
		for i, event := range w.until(start + n) {
			if want := fmt.Sprint("/", i); event.Key != want || event.Revision != start+int64(i)+1 {
				t.Fatalf("event %d is %s, want %s at %d", i, showEvent(event), want, start+int64(i)+1)
			}
		}
	}
}

func testWatchEndsWithContext(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	start := current(t, s)
	w := &reader{Watcher: s.Watch(ctx, "/", start), t: t}
	unread := &reader{Watcher: s.Watch(ctx, "/", start), t: t}
	w.until(create(t, s, "/a", ""))
	cancel()
	w.wantEnd(context.Canceled)
	unread.wantEnd(context.Canceled)
	(&reader{Watcher: s.Watch(ctx, "/", start), t: t}).wantEnd(context.Canceled)
}
