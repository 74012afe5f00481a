package trace

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
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
	ended    int                     // spans so far
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
	r.ended++
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
	spans, _ := r.since(0)
	return spans
}

// since returns what is kept of all spans but the first n, and how many there
// were in all.
func (r *Recorder) since(n int) (spans []Span, ended int) {
	r.mu.Lock()
	kept := make([]sdktrace.ReadOnlySpan, 0, len(r.ring))
	kept = append(kept, r.ring[r.next:]...)
	kept = append(kept, r.ring[:r.next]...)
	ended = r.ended
	r.mu.Unlock()

	kept = kept[len(kept)-min(len(kept), max(0, ended-n)):]
	spans = make([]Span, len(kept))
	for i, span := range kept {
		spans[i] = newSpan(span)
	}
	return spans, ended
}

// SpanList is the body of GET SpansPath.
type SpanList struct {
	Spans []Span `json:"spans"`
	// Next is what to give as since, to be told only of what ends from now on.
	Next int `json:"next"`
}

// ServeHTTP answers with a SpanList. The query parameter since leaves out what an
// earlier answer had, each object narrows it as Select does.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET is served here", http.StatusMethodNotAllowed)
		return
	}
	query, since := req.URL.Query(), 0
	if given := query.Get("since"); given != "" {
		var err error
		if since, err = strconv.Atoi(given); err != nil || since < 0 {
			http.Error(w, "since: must be the next of an earlier answer", http.StatusBadRequest)
			return
		}
	}
	spans, next := r.since(since)
	w.Header().Set("Content-Type", "application/json")
	// An error means that the client left: there is nobody to tell.
	_ = json.NewEncoder(w).Encode(SpanList{Spans: Select(spans, query["object"]...), Next: next})
}

// SpansPath is where an API server serves its recorder.
const SpansPath = "/debug/kubesim/spans"
