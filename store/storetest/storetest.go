package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kubesim/kubesim/store"
)

// Run runs the conformance tests. open returns a store that holds no keys of
// the test; it is closed by the test.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	tests := []struct {
		name string
		run  func(*testing.T, store.Store)
	}{
		{"CreateGetUpdateDelete", testCRUD},
		{"WriteErrors", testWriteErrors},
		{"RevisionErrors", testRevisionErrors},
		{"ValueIsCopied", testValueIsCopied},
		{"ContextEnded", testContextEnded},
		{"ListPages", testListPages},
		{"ListAtRevision", testListAtRevision},
		{"ListPrefix", testListPrefix},
		{"WatchNow", testWatchNow},
		{"WatchPast", testWatchPast},
		{"WatchFuture", testWatchFuture},
		{"WatchPrefix", testWatchPrefix},
		{"WatchProgress", testWatchProgress},
		{"WatchManyEvents", testWatchManyEvents},
		{"WatchEndsWithContext", testWatchEndsWithContext},
		{"CompactReads", testCompactReads},
		{"CompactErrors", testCompactErrors},
		{"CompactWatch", testCompactWatch},
		{"CountersDoNotLoseUpdates", testCounters},
		{"WatchSeesConcurrentWrites", testWatchConcurrent},
		{"IdleWatcherStallsNobody", testIdleWatcher},
		{"RandomOperations", testRandom},
		{"CloseEndsWatches", testClose},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() { s.Close() })
			test.run(t, s)
		})
	}
}

func create(t *testing.T, s store.Store, key, value string) int64 {
	t.Helper()
	revision, err := s.Create(t.Context(), key, []byte(value))
	if err != nil {
		t.Fatalf("create %s: %v", key, err)
	}
	return revision
}

func update(t *testing.T, s store.Store, key, value string, at int64) int64 {
	t.Helper()
	revision, err := s.Update(t.Context(), key, []byte(value), at)
	if err != nil {
		t.Fatalf("update %s at %d: %v", key, at, err)
	}
	return revision
}

func remove(t *testing.T, s store.Store, key string, at int64) int64 {
	t.Helper()
	revision, err := s.Delete(t.Context(), key, at)
	if err != nil {
		t.Fatalf("delete %s at %d: %v", key, at, err)
	}
	return revision
}

func current(t *testing.T, s store.Store) int64 {
	t.Helper()
	revision, err := s.Current(t.Context())
	if err != nil {
		t.Fatalf("current revision: %v", err)
	}
	return revision
}

func list(t *testing.T, s store.Store, prefix string, opts store.ListOptions) store.ListResult {
	t.Helper()
	result, err := s.List(t.Context(), prefix, opts)
	if err != nil {
		t.Fatalf("list %q with %+v: %v", prefix, opts, err)
	}
	return result
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

// show prints a pair as key=value@revision.
func show(kv store.KeyValue) string {
	return fmt.Sprintf("%s=%s@%d", kv.Key, kv.Value, kv.Revision)
}

func showAll(kvs []store.KeyValue) string {
	text := ""
	for _, kv := range kvs {
		text += show(kv) + " "
	}
	return text
}
