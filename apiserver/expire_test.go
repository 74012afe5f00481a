package apiserver_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubesim/kubesim/apiserver"
	"github.com/kubesim/kubesim/store/memory"
)

// An event goes an hour after its last write, in either group; nothing else does.
func TestEventsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := memory.New()
		defer keys.Close()
		s, err := apiserver.New(t.Context(), apiserver.Config{Store: keys, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		do := func(want int, method, path, body string) {
			t.Helper()
			synctest.Wait()
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			r.Host = "localhost"
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%v: %s %s: %d, want %d: %s", time.Now(), method, path, w.Code, want, w.Body)
			}
		}
		const events, newEvents = "/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"
		event := func(name, reason string) string {
			return `{"metadata":{"name":"` + name + `"},"reason":"` + reason + `","involvedObject":{"kind":"Pod","name":"p","namespace":"default"}}`
		}
		do(http.StatusCreated, "POST", events, event("once", "Pulled"))
		do(http.StatusCreated, "POST", events, event("again", "BackOff"))
		do(http.StatusCreated, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"events"}}`)
		time.Sleep(30 * time.Minute)
		do(http.StatusOK, "PUT", events+"/again", event("again", "StillBackOff"))
		time.Sleep(30*time.Minute - time.Second)
		do(http.StatusOK, "GET", newEvents+"/once", "")
		time.Sleep(time.Minute + time.Second)
		do(http.StatusNotFound, "GET", newEvents+"/once", "")
		do(http.StatusOK, "GET", events+"/again", "")
		time.Sleep(30 * time.Minute)
		do(http.StatusNotFound, "GET", events+"/again", "")
		do(http.StatusOK, "GET", "/api/v1/namespaces/default/configmaps/events", "")
	})
}
