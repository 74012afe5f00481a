package trace_test

import (
	"context"
	"net/http"
	"testing"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/kubesim/kubesim/trace"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestTransportNamesTheSpan(t *testing.T) {
	span := oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
		TraceID: oteltrace.TraceID{1}, SpanID: oteltrace.SpanID{2}, TraceFlags: oteltrace.FlagsSampled,
	})
	for name, test := range map[string]struct {
		ctx  context.Context
		want string
	}{
		"without a span": {context.Background(), ""},
		"within a span": {
			oteltrace.ContextWithSpanContext(context.Background(), span),
			"00-01000000000000000000000000000000-0200000000000000-01",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			rt := trace.Transport(roundTripper(func(req *http.Request) (*http.Response, error) {
				got = req.Header.Get("traceparent")
				return &http.Response{}, nil
			}))
			req, err := http.NewRequestWithContext(test.ctx, http.MethodGet, "http://localhost/", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := rt.RoundTrip(req); err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("traceparent is %q, want %q", got, test.want)
			}
			if req.Header.Get("traceparent") != "" {
				t.Error("the caller's request was changed")
			}
		})
	}
}
