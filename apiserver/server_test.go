package apiserver_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/kubesim/kubesim/apiserver"
	"github.com/kubesim/kubesim/store"
	"github.com/kubesim/kubesim/store/memory"
)

// startServer runs an API server alone, on the memory store, as the recordings
// were made, and returns its URL.
func startServer(t *testing.T) string {
	t.Helper()
	keys := memory.New()
	s, err := apiserver.New(t.Context(), apiserver.Config{
		Store: keys, Logger: slog.New(slog.DiscardHandler), DisableAdmissionPlugins: []string{"ServiceAccount"},
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		s.Close()
		web.CloseClientConnections()
		web.Close()
		keys.Close()
	})
	return web.URL
}

// deafStore is a store whose watches end when the test says so.
type deafStore struct {
	store.Store
	lost context.Context
}

func (d deafStore) Watch(ctx context.Context, prefix string, revision int64) store.Watcher {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(d.lost, cancel)
	return d.Store.Watch(ctx, prefix, revision)
}

// A server that no longer hears of what is written ends, and says why.
func TestWait(t *testing.T) {
	for _, lost := range []bool{false, true} {
		ctx, lose := context.WithCancel(t.Context())
		defer lose()
		keys := memory.New()
		defer keys.Close()
		s, err := apiserver.New(t.Context(), apiserver.Config{Store: deafStore{keys, ctx}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if lost {
			lose()
		} else {
			s.Close()
		}
		if err := s.Wait(); (err != nil) != lost {
			t.Errorf("lost its watch: %t, ended with %v", lost, err)
		}
		s.Close()
	}
}
