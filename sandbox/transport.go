package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/kubesim/kubesim/apiserver/authentication"
)

// streamAbove is the size from which an answer streams to the client while the
// handler still writes it. A smaller one is handed over whole.
const streamAbove = 64 << 10

// transport is an http.RoundTripper that hands requests to a handler in the
// same process. There is no socket, so it works inside testing/synctest
// bubbles, and a client that does not read holds up the handler at once. The
// server knows who sends them.
type transport struct {
	handler http.Handler
	running *sync.WaitGroup // handlers at work
	traffic *traffic
	user    authenticationv1.UserInfo
}

// traffic counts requests, to tell whether the parts of this process have come to rest.
type traffic struct{ begun, ended atomic.Int64 }

const (
	// restInterval is how often wait looks, and restLooks how often it must see
	// nothing new, restLimit how long it looks at all.
	restInterval = 100 * time.Microsecond
	restLooks    = 5
	restLimit    = 100 * time.Millisecond
)

// wait returns when no request has been answered or begun for a while. Watches
// count until they begin to stream.
func (t *traffic) wait(ctx context.Context) {
	deadline := time.Now().Add(restLimit)
	quiet, last := 0, t.begun.Load()
	for quiet < restLooks && ctx.Err() == nil && time.Now().Before(deadline) {
		time.Sleep(restInterval)
		begun := t.begun.Load()
		if begun != last || t.ended.Load() != begun {
			quiet, last = 0, begun
			continue
		}
		quiet++
	}
}

// RoundTrip serves the request on a goroutine of its own. It returns when the
// handler flushes, has written much, or is done.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.traffic.begun.Add(1)
	defer t.traffic.ended.Add(1)
	// As over a socket, nothing of the client's context reaches the server but its end.
	ctx, cancel := context.WithCancel(authentication.WithUser(context.Background(), t.user))
	in := serverRequest(ctx, r)
	w := &responseWriter{header: http.Header{}, request: r, response: make(chan *http.Response, 1)}
	w.reader, w.writer = io.Pipe()
	release := context.AfterFunc(r.Context(), func() {
		w.writer.CloseWithError(context.Cause(r.Context())) // what the client reads next
		cancel()
	})
	w.closed = func() {
		release()
		cancel()
	}
	t.running.Go(func() {
		defer w.closed()
		defer in.Body.Close()
		w.finish(serve(t.handler, w, in))
	})
	select {
	case response := <-w.response:
		if response.StatusCode == 0 {
			return nil, fmt.Errorf("%s %s: the handler gave up", r.Method, r.URL.Path)
		}
		return response, nil
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

// serverRequest is what net/http would make of a client's request.
func serverRequest(ctx context.Context, r *http.Request) *http.Request {
	in := r.Clone(ctx)
	in.RequestURI = r.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:0"
	in.Host = "localhost"
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return in
}

// serve calls the handler. Its panic breaks off this answer only, as in net/http.
func serve(handler http.Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s %s: the handler broke off: %v", r.Method, r.URL.Path, v)
		}
	}()
	handler.ServeHTTP(w, r)
	return nil
}

// responseWriter collects an answer, and streams it once it is large or flushed.
// The handler's goroutine alone uses it.
type responseWriter struct {
	request   *http.Request
	header    http.Header
	code      int         // 0 until the header is written
	sent      http.Header // as it was then
	buffer    bytes.Buffer
	streaming bool
	response  chan *http.Response // gets the one response
	reader    *io.PipeReader
	writer    *io.PipeWriter
	closed    func() // ends the request when the client closes the body
}

// Header implements http.ResponseWriter.
func (w *responseWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. Of several calls the first counts.
func (w *responseWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code, w.sent = code, w.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.buffer.Len()+len(b) <= streamAbove {
		return w.buffer.Write(b)
	}
	if err := w.FlushError(); err != nil {
		return 0, err
	}
	return w.writer.Write(b)
}

// FlushError implements what http.ResponseController looks for.
func (w *responseWriter) FlushError() error {
	w.WriteHeader(http.StatusOK)
	if !w.streaming {
		w.streaming = true
		w.response <- w.answer(&streamedBody{PipeReader: w.reader, closed: w.closed}, -1)
	}
	if w.buffer.Len() == 0 {
		return nil
	}
	defer w.buffer.Reset()
	_, err := w.writer.Write(w.buffer.Bytes())
	return err
}

// Flush implements http.Flusher.
func (w *responseWriter) Flush() { _ = w.FlushError() }

// finish hands over what is left when the handler is done.
func (w *responseWriter) finish(err error) {
	switch {
	case w.streaming:
		if flushErr := w.FlushError(); err == nil {
			err = flushErr
		}
		w.writer.CloseWithError(err) // io.EOF without an error
	case err != nil:
		w.response <- &http.Response{}
	default:
		w.WriteHeader(http.StatusOK)
		size := w.buffer.Len()
		w.response <- w.answer(io.NopCloser(&w.buffer), int64(size))
	}
}

func (w *responseWriter) answer(body io.ReadCloser, length int64) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.code, http.StatusText(w.code)), StatusCode: w.code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body, ContentLength: length, Request: w.request,
	}
}

// streamedBody ends the request when the client closes it.
type streamedBody struct {
	*io.PipeReader
	closed func()
}

// Close implements io.Closer.
func (b *streamedBody) Close() error {
	b.closed()
	return b.PipeReader.Close()
}
