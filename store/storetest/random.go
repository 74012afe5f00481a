package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kubesim/kubesim/store"
)

// testRandom compares a store with a model through random operations. The
// seed, which the log shows, repeats a failure.
func testRandom(t *testing.T, s store.Store) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	start := current(t, s)
	m := &model{first: start, oldest: start, states: []map[string]store.KeyValue{{}}}
	follower := watch(t, s, "/", start)
	for range 1000 {
		key := fmt.Sprintf("/%c/%d", 'a'+r.IntN(3), r.IntN(6))
		at := m.oldest + r.Int64N(m.revision()-m.oldest+1)
		switch n := r.IntN(100); {
		case n < 25:
			randomCreate(t, s, m, key)
		case n < 50:
			randomUpdate(t, s, m, key, at)
		case n < 65:
			randomDelete(t, s, m, key, at)
		case n < 80:
			compareGet(t, s, m, key, at)
		case n < 98:
			opts := store.ListOptions{Revision: at * r.Int64N(2), Limit: r.IntN(5), After: key[:r.IntN(len(key))]}
			compareList(t, s, m, key[:r.IntN(4)], opts)
		case at > m.oldest:
			m.follow(follower) // or it may miss what is compacted
			if err := s.Compact(t.Context(), at); err != nil {
				t.Fatalf("compact %d: %v", at, err)
			}
			m.oldest = at
		}
		if t.Failed() {
			return
		}
	}
	m.follow(follower)
	m.follow(watch(t, s, "/", m.oldest))
}

func randomCreate(t *testing.T, s store.Store, m *model, key string) {
	value := fmt.Sprint("v", m.revision())
	revision, err := s.Create(t.Context(), key, []byte(value))
	if _, exists := m.newest()[key]; exists {
		wantErr(t, "create "+key, err, store.ErrExists)
		return
	}
	m.write(key, []byte(value))
	wantWritten(t, "create "+key, revision, err, m)
}

// randomUpdate and randomDelete aim at the key's revision every other time.
func randomUpdate(t *testing.T, s store.Store, m *model, key string, at int64) {
	kv, exists := m.newest()[key]
	if at%2 == 0 && exists {
		at = kv.Revision
	}
	value := fmt.Sprint("v", m.revision())
	revision, err := s.Update(t.Context(), key, []byte(value), at)
	if want := m.refuses(key, at); want != nil {
		wantRefused(t, "update "+key, err, want)
		return
	}
	m.write(key, []byte(value))
	wantWritten(t, "update "+key, revision, err, m)
}

func randomDelete(t *testing.T, s store.Store, m *model, key string, at int64) {
	kv, exists := m.newest()[key]
	if at%2 == 0 && exists {
		at = kv.Revision
	}
	revision, err := s.Delete(t.Context(), key, at)
	if want := m.refuses(key, at); want != nil {
		wantRefused(t, "delete "+key, err, want)
		return
	}
	m.write(key, nil)
	wantWritten(t, "delete "+key, revision, err, m)
}

func wantWritten(t *testing.T, what string, revision int64, err error, m *model) {
	t.Helper()
	if err != nil || revision != m.revision() {
		t.Errorf("%s: revision %d, %v, want %d", what, revision, err, m.revision())
	}
}

func wantRefused(t *testing.T, what string, err, want error) {
	t.Helper()
	var got, wanted *store.ConflictError
	if !errors.As(want, &wanted) {
		wantErr(t, what, err, want)
		return
	}
	if !errors.As(err, &got) || show(got.Current) != show(wanted.Current) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

func compareGet(t *testing.T, s store.Store, m *model, key string, at int64) {
	kv, err := s.Get(t.Context(), key, at)
	want, exists := m.states[at-m.first][key]
	if !exists {
		wantErr(t, fmt.Sprintf("get %s at %d", key, at), err, store.ErrNotFound)
		return
	}
	if err != nil || show(kv) != show(want) {
		t.Errorf("get %s at %d: %s, %v, want %s", key, at, show(kv), err, show(want))
	}
}

func compareList(t *testing.T, s store.Store, m *model, prefix string, opts store.ListOptions) {
	got, want := list(t, s, prefix, opts), m.list(prefix, opts)
	if showAll(got.Items) != showAll(want.Items) || got.Revision != want.Revision || got.Remaining != want.Remaining {
		t.Errorf("list %q with %+v: %s at %d and %d more, want %s at %d and %d more", prefix, opts,
			showAll(got.Items), got.Revision, got.Remaining, showAll(want.Items), want.Revision, want.Remaining)
	}
}
