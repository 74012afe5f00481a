package trace

import (
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// Transport makes requests name the span they belong to: it adds the W3C
// traceparent header for the span in a request's context. It has the shape of
// rest.Config.Wrap's argument.
func Transport(rt http.RoundTripper) http.RoundTripper {
	return &transport{next: rt}
}

type transport struct{ next http.RoundTripper }

// RoundTrip sends a copy, since a RoundTripper must leave the request alone.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !oteltrace.SpanContextFromContext(req.Context()).IsValid() {
		return t.next.RoundTrip(req)
	}
	traced := *req
	traced.Header = req.Header.Clone()
	propagation.TraceContext{}.Inject(req.Context(), propagation.HeaderCarrier(traced.Header))
	return t.next.RoundTrip(&traced)
}

// WrappedRoundTripper lets client-go look through the wrapper, as it does to close idle connections.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }
