package controllers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// faults stands between controllers and the API server, and makes trouble.
type faults struct {
	inner http.RoundTripper

	// crashAfter calls crash when that many writes were made, and lets the
	// controllers know nothing of the last one.
	crashAfter int
	crash      func()
	// refuse lets each write fail once before it succeeds.
	refuse bool
	// lag delays what watches deliver.
	lag time.Duration
	// cut ends the first watches of each kind after that time; every other
	// attempt is told to list anew.
	cut time.Duration

	mu      sync.Mutex
	writes  int
	refused map[string]bool
	watches map[string]int
	idle    []string // writes that changed nothing
}

// RoundTrip implements http.RoundTripper.
func (f *faults) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case strings.Contains(r.URL.Path, "/events"):
		return f.inner.RoundTrip(r)
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		return f.watch(r)
	case r.Method == http.MethodGet:
		return f.inner.RoundTrip(r)
	}
	if f.refuses(r) {
		return answer(r, http.StatusConflict, metav1.StatusReasonConflict), nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	// What is under way when the controllers crash is done before they are back.
	response, err := f.inner.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	if err != nil {
		return nil, err
	}
	if r.Method == http.MethodPut && response.StatusCode == http.StatusOK {
		f.noteIdle(r, body, response)
	}
	f.mu.Lock()
	f.writes++
	crash := f.crashAfter > 0 && f.writes >= f.crashAfter
	f.mu.Unlock()
	if crash {
		f.crash()
		response.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return response, nil
}

func (f *faults) refuses(r *http.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := r.Method + r.URL.Path
	if !f.refuse || f.refused[key] {
		return false
	}
	f.refused[key] = true
	return true
}

// noteIdle tells a write that left the resourceVersion as it was.
func (f *faults) noteIdle(r *http.Request, body []byte, response *http.Response) {
	got, err := io.ReadAll(response.Body)
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(got))
	var sent, kept metav1.PartialObjectMetadata
	if err == nil && json.Unmarshal(body, &sent) == nil && json.Unmarshal(got, &kept) == nil && sent.ResourceVersion != "" && sent.ResourceVersion == kept.ResourceVersion {
		f.mu.Lock()
		f.idle = append(f.idle, r.URL.Path)
		f.mu.Unlock()
	}
}

func (f *faults) watch(r *http.Request) (*http.Response, error) {
	attempt := f.attempt(r.URL.Path)
	cuts := f.cut > 0 && attempt <= 4
	if cuts && attempt%2 == 0 {
		return answer(r, http.StatusGone, metav1.StatusReasonExpired), nil
	}
	response, err := f.inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if f.lag > 0 {
		response.Body = &lagging{response.Body, f.lag}
	}
	if cuts {
		body := response.Body
		time.AfterFunc(f.cut, func() { body.Close() })
	}
	return response, nil
}

// attempt counts the watches of a kind.
func (f *faults) attempt(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches[path]++
	return f.watches[path]
}

// lagging delivers what it reads later.
type lagging struct {
	io.ReadCloser
	by time.Duration
}

// Read implements io.Reader.
func (l *lagging) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	time.Sleep(l.by)
	return n, err
}

func answer(r *http.Request, code int, reason metav1.StatusReason) *http.Response {
	body, _ := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "a fault of the test",
	})
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

// through sends a client's requests by way of the faults, as JSON.
func (f *faults) through(cfg *rest.Config) *rest.Config {
	f.refused, f.watches = map[string]bool{}, map[string]int{}
	cfg.ContentType, cfg.AcceptContentTypes = "application/json", "application/json"
	f.inner, cfg.Transport = cfg.Transport, f
	return cfg
}
