package storetest

import (
	"fmt"
	"testing"

	"github.com/kubesim/kubesim/store"
)

func testListPages(t *testing.T, s store.Store) {
	const n, limit = 25, 10
	create(t, s, "/other", "")
	for i := range n {
		create(t, s, fmt.Sprintf("/list/%02d", i), "")
	}
	first := list(t, s, "/list/", store.ListOptions{Limit: limit})
	// Later writes don't touch the pages of the first one's revision.
	create(t, s, "/list/00a", "")
	remove(t, s, "/list/20", first.Items[0].Revision+20)

	var keys []string
	opts := store.ListOptions{Revision: first.Revision, Limit: limit}
	for page := first; ; page = list(t, s, "/list/", opts) {
		for _, kv := range page.Items {
			keys = append(keys, kv.Key)
		}
		if page.Revision != first.Revision {
			t.Errorf("page is of revision %d, want %d", page.Revision, first.Revision)
		}
		if want := int64(n - len(keys)); page.Remaining != want {
			t.Errorf("%d remain after %d keys, want %d", page.Remaining, len(keys), want)
		}
		if page.Remaining == 0 {
			break
		}
		opts.After = keys[len(keys)-1]
	}
	if len(keys) != n {
		t.Fatalf("pages held %d keys, want %d: %v", len(keys), n, keys)
	}
	for i, key := range keys {
		if want := fmt.Sprintf("/list/%02d", i); key != want {
			t.Errorf("key %d is %s, want %s", i, key, want)
		}
	}
}

func testListAtRevision(t *testing.T, s store.Store) {
	start := current(t, s)
	r1 := create(t, s, "/a", "1")
	r2 := create(t, s, "/b", "1")
	r3 := update(t, s, "/a", "2", r1)
	r4 := remove(t, s, "/a", r3)
	for _, test := range []struct {
		at, is int64
		want   string
	}{
		{start, start, ""},
		{r1, r1, fmt.Sprintf("/a=1@%d ", r1)},
		{r2, r2, fmt.Sprintf("/a=1@%d /b=1@%d ", r1, r2)},
		{r3, r3, fmt.Sprintf("/a=2@%d /b=1@%d ", r3, r2)},
		{r4, r4, fmt.Sprintf("/b=1@%d ", r2)},
		{0, r4, fmt.Sprintf("/b=1@%d ", r2)},
	} {
		result := list(t, s, "/", store.ListOptions{Revision: test.at})
		if got := showAll(result.Items); got != test.want {
			t.Errorf("list at %d: %s, want %s", test.at, got, test.want)
		}
		if result.Revision != test.is || result.Remaining != 0 {
			t.Errorf("list at %d says revision %d and %d remaining", test.at, result.Revision, result.Remaining)
		}
	}
}

func testListPrefix(t *testing.T, s store.Store) {
	for _, key := range []string{"/a", "/a/", "/a/1", "/a/2", "/a0", "/b/1", "/\xff", "/\xff\xff"} {
		create(t, s, key, "")
	}
	for _, test := range []struct {
		prefix, after string
		limit         int
		want          []string
		remaining     int64
	}{
		{prefix: "/a/", want: []string{"/a/", "/a/1", "/a/2"}},
		{prefix: "/a", want: []string{"/a", "/a/", "/a/1", "/a/2", "/a0"}},
		{prefix: "", limit: 2, want: []string{"/a", "/a/"}, remaining: 6},
		{prefix: "/c"},
		{prefix: "/\xff", want: []string{"/\xff", "/\xff\xff"}},
		{prefix: "/a/", after: "/a/1", want: []string{"/a/2"}},
		{prefix: "/a/", after: "/a/10", want: []string{"/a/2"}},
		{prefix: "/a/", after: "/a", want: []string{"/a/", "/a/1", "/a/2"}}, // before all of them
		{prefix: "/a/", after: "/a/", want: []string{"/a/1", "/a/2"}},
		{prefix: "/a/", after: "/b"}, // behind all of them
		{prefix: "/a", after: "/a", limit: 1, want: []string{"/a/"}, remaining: 3},
	} {
		opts := store.ListOptions{After: test.after, Limit: test.limit}
		result := list(t, s, test.prefix, opts)
		var keys []string
		for _, kv := range result.Items {
			keys = append(keys, kv.Key)
		}
		if fmt.Sprint(keys) != fmt.Sprint(test.want) || result.Remaining != test.remaining {
			t.Errorf("list %q with %+v: %q and %d more, want %q and %d more",
				test.prefix, opts, keys, result.Remaining, test.want, test.remaining)
		}
	}
}
