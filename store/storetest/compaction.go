package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kubesim/kubesim/store"
)

func testCompactReads(t *testing.T, s store.Store) {
	ra := create(t, s, "/a", "1")
	rb := create(t, s, "/b", "1")
	ra2 := update(t, s, "/a", "2", ra)
	rb2 := remove(t, s, "/b", rb)
	ra3 := update(t, s, "/a", "3", ra2)
	if err := s.Compact(t.Context(), rb2); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{ra, rb, ra2} {
		_, err := s.Get(t.Context(), "/a", at)
		wantCompacted(t, "get", err, rb2)
		_, err = s.List(t.Context(), "/", store.ListOptions{Revision: at})
		wantCompacted(t, "list", err, rb2)
	}
	// The compacted revision itself and all later ones can still be read.
	for at, want := range map[int64]string{
		rb2: fmt.Sprintf("/a=2@%d ", ra2),
		ra3: fmt.Sprintf("/a=3@%d ", ra3),
		0:   fmt.Sprintf("/a=3@%d ", ra3),
	} {
		if got := showAll(list(t, s, "/", store.ListOptions{Revision: at}).Items); got != want {
			t.Errorf("list at %d: %s, want %s", at, got, want)
		}
	}
	// What was compacted away can be made again.
	if got := create(t, s, "/b", "2"); got != ra3+1 {
		t.Errorf("create after compaction made revision %d, want %d", got, ra3+1)
	}
}

func testCompactErrors(t *testing.T, s store.Store) {
	create(t, s, "/a", "")
	r := create(t, s, "/b", "")
	if err := s.Compact(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantCompacted(t, "compact the same revision", s.Compact(t.Context(), r), r)
	wantCompacted(t, "compact an older revision", s.Compact(t.Context(), r-1), r)
	wantErr(t, "compact the future", s.Compact(t.Context(), r+1), store.ErrFutureRevision)
}

func testCompactWatch(t *testing.T, s store.Store) {
	start := current(t, s)
	revisions, events := writes(t, s, "/a")
	open := watch(t, s, "/", start)
	open.want(revisions[3], events...)
	if err := s.Compact(t.Context(), revisions[3]); err != nil {
		t.Fatal(err)
	}
	err := watch(t, s, "/", start).wantEnd(store.ErrCompacted)
	wantCompacted(t, "watch", err, revisions[3])
	watch(t, s, "/", revisions[1]).wantEnd(store.ErrCompacted)

	r := create(t, s, "/b", "")
	want := fmt.Sprintf("+/b=@%d", r)
	watch(t, s, "/", revisions[3]).want(r, want)
	open.want(r, want) // one that had seen all goes on
}

func wantCompacted(t *testing.T, what string, err error, oldest int64) {
	t.Helper()
	wantErr(t, what, err, store.ErrCompacted)
	var compacted *store.CompactedError
	if errors.As(err, &compacted) && compacted.Oldest != oldest {
		t.Errorf("%s: error names %d as the oldest revision, want %d", what, compacted.Oldest, oldest)
	}
}
