package apiserver_test

import (
	"io"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/kubesim/kubesim/apiserver"
	"github.com/kubesim/kubesim/store/memory"
)

// startServer runs an API server alone, on the memory store, as the recordings
// were made, and returns its URL.
func startServer(t *testing.T) string {
	t.Helper()
	store := memory.New()
	s, err := apiserver.New(t.Context(), apiserver.Config{
		Store: store, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), DisableAdmissionPlugins: []string{"ServiceAccount"},
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		s.Close()
		web.CloseClientConnections()
		web.Close()
		store.Close()
	})
	return web.URL
}
