package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// call sends a request to a handler through a transport.
func call(ctx context.Context, t *testing.T, handler http.HandlerFunc, method, body string) (*http.Response, error) {
	t.Helper()
	rt := &transport{handler: handler, running: &sync.WaitGroup{}, traffic: &traffic{}}
	t.Cleanup(rt.running.Wait)
	request, err := http.NewRequestWithContext(ctx, method, "http://localhost/path?q=1", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return rt.RoundTrip(request)
}

func TestTransportAnswers(t *testing.T) {
	large := strings.Repeat("x", 3*streamAbove)
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		code    int
		body    string
		length  int64
	}{
		"a handler that writes nothing": {func(http.ResponseWriter, *http.Request) {}, 200, "", 0},
		"a code and an echo": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusCreated)
			_, _ = io.Copy(w, r.Body)
		}, 201, "sent", 4},
		"the first code counts": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			w.WriteHeader(http.StatusOK)
		}, 409, "", 0},
		"what a server sees of the request": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.Method, " ", r.RequestURI, " ", r.Host)
		}, 200, "POST /path?q=1 localhost", 24},
		"a large answer streams": {func(w http.ResponseWriter, _ *http.Request) {
			for part := range strings.SplitSeq(large, "") {
				fmt.Fprint(w, part)
			}
		}, 200, large, -1},
	} {
		t.Run(name, func(t *testing.T) {
			response, err := call(t.Context(), t, test.handler, http.MethodPost, "sent")
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != test.code || string(body) != test.body || response.ContentLength != test.length {
				t.Errorf("got %d, length %d, %.40q, want %d, length %d, %.40q",
					response.StatusCode, response.ContentLength, body, test.code, test.length, test.body)
			}
		})
	}
}

func TestTransportStreamsWhatIsFlushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := make(chan struct{})
		response, err := call(t.Context(), t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "first")
			w.(http.Flusher).Flush()
			<-more
			fmt.Fprint(w, " second")
		}, http.MethodGet, "")
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 5)
		if _, err := io.ReadFull(response.Body, first); err != nil || string(first) != "first" {
			t.Fatalf("read %q, %v", first, err)
		}
		close(more)
		rest, err := io.ReadAll(response.Body)
		if err != nil || string(rest) != " second" {
			t.Errorf("read %q, %v", rest, err)
		}
	})
}

func TestTransportEnds(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	t.Run("the handler when the client closes the body", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			response, err := call(t.Context(), t, endless, http.MethodGet, "")
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close() // the bubble would hang if the handler stayed
		})
	})
	t.Run("the body when the client's context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			response, err := call(ctx, t, endless, http.MethodGet, "")
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if _, err := io.ReadAll(response.Body); !errors.Is(err, context.Canceled) {
				t.Errorf("reading ended with %v", err)
			}
		})
	})
	t.Run("the call when the context ends before an answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
			if _, err := call(ctx, t, silent, http.MethodGet, ""); !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended with %v", err)
			}
		})
	})
	t.Run("with an error when the handler panics", func(t *testing.T) {
		broken := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		if _, err := call(t.Context(), t, broken, http.MethodGet, ""); err == nil {
			t.Error("the call succeeded")
		}
	})
}
