package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/kubesim/kubesim/store"
)

func testCRUD(t *testing.T, s store.Store) {
	before := current(t, s)
	r1 := create(t, s, "/a", "1")
	r2 := update(t, s, "/a", "2", r1)
	r3 := remove(t, s, "/a", r2)
	r4 := create(t, s, "/a", "") // again, and empty
	if r1 != before+1 || r2 != r1+1 || r3 != r2+1 || r4 != r3+1 {
		t.Errorf("revisions %d, %d, %d, %d after %d: not one a write", r1, r2, r3, r4, before)
	}
	if now := current(t, s); now != r4 {
		t.Errorf("current revision is %d, want %d", now, r4)
	}
	for _, read := range []struct {
		at   int64
		want store.KeyValue
	}{
		{0, store.KeyValue{Key: "/a", Revision: r4}},
		{r1, store.KeyValue{Key: "/a", Value: []byte("1"), Revision: r1}},
		{r2, store.KeyValue{Key: "/a", Value: []byte("2"), Revision: r2}},
		{r4, store.KeyValue{Key: "/a", Revision: r4}},
	} {
		if kv, err := s.Get(t.Context(), "/a", read.at); err != nil || show(kv) != show(read.want) {
			t.Errorf("get at %d: %s, %v, want %s", read.at, show(kv), err, show(read.want))
		}
	}
	for _, at := range []int64{before, r3} {
		_, err := s.Get(t.Context(), "/a", at)
		wantErr(t, "get while there was none", err, store.ErrNotFound)
	}
}

func testWriteErrors(t *testing.T, s store.Store) {
	ctx := t.Context()
	r1 := create(t, s, "/a", "1")
	r2 := update(t, s, "/a", "2", r1)
	tooLarge := make([]byte, store.MaxValueSize+1)
	for _, write := range []struct {
		name string
		want error
		do   func() (int64, error)
	}{
		{"create existing", store.ErrExists, func() (int64, error) { return s.Create(ctx, "/a", nil) }},
		{"create too large", store.ErrTooLarge, func() (int64, error) { return s.Create(ctx, "/b", tooLarge) }},
		{"update missing", store.ErrNotFound, func() (int64, error) { return s.Update(ctx, "/b", nil, r2) }},
		{"update missing at 0", store.ErrNotFound, func() (int64, error) { return s.Update(ctx, "/b", nil, 0) }},
		{"update stale", store.ErrConflict, func() (int64, error) { return s.Update(ctx, "/a", nil, r1) }},
		{"update at 0", store.ErrConflict, func() (int64, error) { return s.Update(ctx, "/a", nil, 0) }},
		{"update in the future", store.ErrConflict, func() (int64, error) { return s.Update(ctx, "/a", nil, r2+100) }},
		{"update too large", store.ErrTooLarge, func() (int64, error) { return s.Update(ctx, "/a", tooLarge, r2) }},
		{"delete missing", store.ErrNotFound, func() (int64, error) { return s.Delete(ctx, "/b", r2) }},
		{"delete stale", store.ErrConflict, func() (int64, error) { return s.Delete(ctx, "/a", r1) }},
		{"delete at 0", store.ErrConflict, func() (int64, error) { return s.Delete(ctx, "/a", 0) }},
	} {
		_, err := write.do()
		wantErr(t, write.name, err, write.want)
		var conflict *store.ConflictError
		if errors.As(err, &conflict) && show(conflict.Current) != show(store.KeyValue{Key: "/a", Value: []byte("2"), Revision: r2}) {
			t.Errorf("%s: conflict with %s", write.name, show(conflict.Current))
		}
	}
	if now := current(t, s); now != r2 {
		t.Errorf("refused writes moved the revision from %d to %d", r2, now)
	}
	largest := tooLarge[:store.MaxValueSize]
	if _, err := s.Update(ctx, "/a", largest, r2); err != nil {
		t.Errorf("update with the largest value: %v", err)
	}
}

func testRevisionErrors(t *testing.T, s store.Store) {
	r := create(t, s, "/a", "1")
	_, getErr := s.Get(t.Context(), "/a", r+10)
	_, listErr := s.List(t.Context(), "/", store.ListOptions{Revision: r + 10})
	for _, err := range []error{getErr, listErr, s.Compact(t.Context(), r+10)} {
		wantErr(t, "future revision", err, store.ErrFutureRevision)
		var future *store.FutureRevisionError
		if errors.As(err, &future) && future.Current != r {
			t.Errorf("error names %d as the newest revision, want %d", future.Current, r)
		}
	}
}

func testValueIsCopied(t *testing.T, s store.Store) {
	buffer := []byte("1")
	r, err := s.Create(t.Context(), "/a", buffer)
	if err != nil {
		t.Fatal(err)
	}
	buffer[0] = '2'
	if kv, err := s.Get(t.Context(), "/a", r); err != nil || string(kv.Value) != "1" {
		t.Errorf("after the caller reused its buffer: %s, %v", show(kv), err)
	}
}

func testContextEnded(t *testing.T, s store.Store) {
	r := create(t, s, "/a", "1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, createErr := s.Create(ctx, "/b", nil)
	_, updateErr := s.Update(ctx, "/a", nil, r)
	_, deleteErr := s.Delete(ctx, "/a", r)
	_, getErr := s.Get(ctx, "/a", 0)
	_, listErr := s.List(ctx, "/", store.ListOptions{})
	_, currentErr := s.Current(ctx)
	for _, err := range []error{createErr, updateErr, deleteErr, getErr, listErr, currentErr, s.Compact(ctx, r)} {
		wantErr(t, "call with a context that ended", err, context.Canceled)
	}
}
