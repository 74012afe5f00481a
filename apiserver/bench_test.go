package apiserver_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/apiserver"
	"github.com/kubesim/kubesim/store/memory"
)

// The cost of a request inside the server, without sockets and on the memory store.
func BenchmarkRequests(b *testing.B) {
	s, err := apiserver.New(b.Context(), apiserver.Config{Store: memory.New(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const path = "/api/v1/namespaces/default/configmaps"
	body := func(i int, k string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"},"data":{"k":"%s%s"}}`, i, k, strings.Repeat("x", 1000))
	}
	do := func(b *testing.B, method, path, body string, want int) {
		b.Helper()
		r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != want {
			b.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	}
	n := 0
	b.Run("create", func(b *testing.B) {
		for b.Loop() {
			n++
			do(b, http.MethodPost, path, body(n, "a"), http.StatusCreated)
		}
	})
	i := 0
	next := func() int { i = i%n + 1; return i }
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			do(b, http.MethodGet, fmt.Sprintf("%s/c%d", path, next()), "", http.StatusOK)
		}
	})
	b.Run("update", func(b *testing.B) {
		round := 0
		for b.Loop() {
			round++
			do(b, http.MethodPut, fmt.Sprintf("%s/c%d", path, next()), body(i, fmt.Sprint(round)), http.StatusOK)
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			do(b, http.MethodGet, path+"?limit=5000", "", http.StatusOK)
		}
	})
}
