package trace

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// DefaultCapacity is how many spans a Recorder keeps by default: several
// minutes of a busy sandbox in about 10 MB.
const DefaultCapacity = 8192

// Recorder keeps the last finished spans. Make it with NewRecorder; it is safe
// for concurrent use.
type Recorder struct {
	mu       sync.Mutex
	ring     []sdktrace.ReadOnlySpan // grows up to capacity, then is overwritten
	next     int                     // where the next span goes once the ring is full
	capacity int
}

var _ sdktrace.SpanProcessor = (*Recorder)(nil)

// NewRecorder returns a recorder of the last capacity spans, DefaultCapacity when 0.
func NewRecorder(capacity int) *Recorder {
	if capacity <= 0 {
		capacity = DefaultCapacity
	}
	return &Recorder{capacity: capacity}
}

// Provider returns a tracer provider whose spans all end in the recorder.
func (r *Recorder) Provider() *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.AlwaysSample()),
		// The default resource describes host and process, which nobody asks for
		// here and which takes milliseconds of start-up to find out.
		sdktrace.WithResource(resource.Empty()),
		sdktrace.WithSpanProcessor(r),
	)
}

// OnEnd implements sdktrace.SpanProcessor. Spans pass here on the way of every
// request, so it only keeps the reference; Spans does the rest.
func (r *Recorder) OnEnd(span sdktrace.ReadOnlySpan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ring) < r.capacity {
		r.ring = append(r.ring, span)
		return
	}
	r.ring[r.next] = span
	r.next = (r.next + 1) % r.capacity
}

// OnStart implements sdktrace.SpanProcessor.
func (r *Recorder) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// Shutdown implements sdktrace.SpanProcessor. What was recorded stays readable.
func (r *Recorder) Shutdown(context.Context) error { return nil }

// ForceFlush implements sdktrace.SpanProcessor.
func (r *Recorder) ForceFlush(context.Context) error { return nil }

// Spans returns what is kept, in the order in which the spans ended.
func (r *Recorder) Spans() []Span {
	r.mu.Lock()
	kept := make([]sdktrace.ReadOnlySpan, 0, len(r.ring))
	kept = append(kept, r.ring[r.next:]...)
	kept = append(kept, r.ring[:r.next]...)
	r.mu.Unlock()

	spans := make([]Span, len(kept))
	for i, span := range kept {
		spans[i] = newSpan(span)
	}
	return spans
}

// SpanList is the body of GET SpansPath.
type SpanList struct {
	Spans []Span `json:"spans"`
}

// ServeHTTP answers with a SpanList. Each query parameter object narrows it as
// Select does.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET is served here", http.StatusMethodNotAllowed)
		return
	}
	spans := Select(r.Spans(), req.URL.Query()["object"]...)
	w.Header().Set("Content-Type", "application/json")
	// An error means that the client left: there is nobody to tell.
	_ = json.NewEncoder(w).Encode(SpanList{Spans: spans})
}

// SpansPath is where an API server serves its recorder.
const SpansPath = "/debug/kubesim/spans"
