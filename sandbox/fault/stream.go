package fault

import (
	"bytes"
	"context"
	"encoding/binary"
	"net/http"
	"strings"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// stream is a watch on its way to the client. The handler's goroutine alone
// writes to it.
type stream struct {
	http.ResponseWriter
	ctx      context.Context
	end      context.CancelFunc
	injector *Injector
	asked    asked
	lost     atomic.Bool // events that the client was never told
	protobuf bool
	begun    []byte // an event of which the rest is still to come
}

// stream serves a watch.
func (i *Injector) stream(w http.ResponseWriter, r *http.Request, q asked, next http.Handler) {
	ctx, end := context.WithCancel(r.Context())
	defer end()
	s := &stream{ResponseWriter: w, ctx: ctx, end: end, injector: i, asked: q}
	i.mu.Lock()
	i.streams[s] = struct{}{}
	for _, a := range i.all() {
		if a.Kind == Cut && a.picks(q) { // just now
			end()
		}
	}
	i.mu.Unlock()
	next.ServeHTTP(s, r.WithContext(ctx))
	i.mu.Lock()
	delete(i.streams, s)
	i.mu.Unlock()
	if s.lost.Load() && r.Context().Err() == nil {
		s.expire()
	}
}

// Unwrap lets http.ResponseController find the connection.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (s *stream) WriteHeader(code int) {
	s.protobuf = strings.Contains(s.Header().Get("Content-Type"), "protobuf")
	s.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter. The parts of an event that come apart are
// put together, so that it is lost as a whole or not at all.
func (s *stream) Write(b []byte) (int, error) {
	whole := append(s.begun, b...)
	size := s.complete(whole)
	s.begun = bytes.Clone(whole[size:])
	whole = whole[:size]
	for _, a := range s.injector.all() {
		if a.picks(s.asked) {
			whole = s.disturb(a, whole)
		}
	}
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if len(whole) > 0 {
		if _, err := s.ResponseWriter.Write(whole); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// disturb holds events up, or leaves some out.
func (s *stream) disturb(a *active, events []byte) []byte {
	switch a.Kind {
	case Freeze:
		a.hits.Add(1)
		select {
		case <-a.ended:
		case <-s.ctx.Done():
		}
	case Delay:
		if a.lucky() {
			a.hits.Add(1)
			a.sleep(s.ctx, s.injector, a.By.Duration)
		}
	case Drop:
		return s.leaveOut(a, events)
	}
	return events
}

func (s *stream) leaveOut(a *active, events []byte) (kept []byte) {
	for len(events) > 0 {
		size := s.first(events)
		if a.lucky() {
			a.hits.Add(1)
			s.lost.Store(true)
		} else {
			kept = append(kept, events[:size]...)
		}
		events = events[size:]
	}
	select {
	case <-a.ended: // too late for its end to see that events were lost
		s.end()
	default:
	}
	return kept
}

// first is the size of the first event, 0 if it is not whole.
func (s *stream) first(b []byte) int {
	if !s.protobuf {
		return bytes.IndexByte(b, '\n') + 1
	}
	if len(b) < 4 {
		return 0
	}
	size := 4 + int(binary.BigEndian.Uint32(b))
	if size > len(b) {
		return 0
	}
	return size
}

// complete is the size of all events that are whole.
func (s *stream) complete(b []byte) (size int) {
	for {
		n := s.first(b[size:])
		if n == 0 {
			return size
		}
		size += n
	}
}

// expire tells the client that it has missed something, so that it lists again.
func (s *stream) expire() {
	status := apierrors.NewResourceExpired("the watch lost events").Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	var object, frame bytes.Buffer
	if s.protobuf {
		if protobuf.NewSerializer(nil, nil).Encode(&status, &object) != nil {
			return
		}
		event := metav1.WatchEvent{Type: "ERROR", Object: runtime.RawExtension{Raw: object.Bytes()}}
		body, err := event.Marshal()
		if err != nil {
			return
		}
		frame.Write(binary.BigEndian.AppendUint32(nil, uint32(len(body))))
		frame.Write(body)
	} else {
		if json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{}).Encode(&status, &object) != nil {
			return
		}
		frame.WriteString(`{"type":"ERROR","object":`)
		frame.Write(bytes.TrimSpace(object.Bytes()))
		frame.WriteString("}\n")
	}
	_, _ = s.ResponseWriter.Write(frame.Bytes()) // the client is gone if it fails
	_ = http.NewResponseController(s.ResponseWriter).Flush()
}
