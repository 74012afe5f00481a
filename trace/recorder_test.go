package trace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/kubesim/kubesim/trace"
)

func TestRecorderKeepsTheLastSpans(t *testing.T) {
	recorder := trace.NewRecorder(3)
	tracer := recorder.Provider().Tracer("test")
	for i, want := range [][]string{{"0"}, {"0", "1"}, {"0", "1", "2"}, {"1", "2", "3"}, {"2", "3", "4"}} {
		_, span := tracer.Start(context.Background(), fmt.Sprint(i))
		span.End()
		if got := names(recorder.Spans()); !slices.Equal(got, want) {
			t.Errorf("after span %d: recorded %v, want %v", i, got, want)
		}
	}
}

func TestServeHTTPSince(t *testing.T) {
	recorder := trace.NewRecorder(3)
	tracer := recorder.Provider().Tracer("test")
	next := 0
	for _, step := range []struct{ end, want []string }{
		{[]string{"0", "1"}, []string{"0", "1"}},
		{nil, nil},
		{[]string{"2", "3"}, []string{"2", "3"}},
		{[]string{"4", "5", "6", "7"}, []string{"5", "6", "7"}}, // more than are kept
	} {
		for _, name := range step.end {
			_, span := tracer.Start(context.Background(), name)
			span.End()
		}
		answer := httptest.NewRecorder()
		recorder.ServeHTTP(answer, httptest.NewRequest("GET", fmt.Sprintf("/spans?since=%d", next), nil))
		var list trace.SpanList
		if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		if got := names(list.Spans); !slices.Equal(got, step.want) {
			t.Errorf("since %d: %v, want %v", next, got, step.want)
		}
		next = list.Next
	}
	answer := httptest.NewRecorder()
	recorder.ServeHTTP(answer, httptest.NewRequest("GET", "/spans?since=-1", nil))
	if answer.Code != 400 {
		t.Errorf("since -1: %d", answer.Code)
	}
}

func TestServeHTTPSelectsByObject(t *testing.T) {
	recorder := trace.NewRecorder(0)
	tracer := recorder.Provider().Tracer("test")
	ctx, reconcile := tracer.Start(context.Background(), "reconcile", oteltrace.WithAttributes(
		trace.Component.String("replicaset-controller"), trace.Object.String("replicasets.apps/default/web"),
		trace.Woke.Int64(7), trace.Decision.String("want 1, have 0, create 1")))
	_, request := tracer.Start(ctx, "POST pods", oteltrace.WithAttributes(
		trace.Object.String("pods/default/web-a"), trace.Wrote.Int64(8), trace.Code.Int(201)))
	request.End()
	reconcile.End()
	_, other := tracer.Start(context.Background(), "other", oteltrace.WithAttributes(trace.Object.String("pods/default/b")))
	other.End()

	answer := httptest.NewRecorder()
	recorder.ServeHTTP(answer, httptest.NewRequest("GET", "/spans?object=pods/default/web-a", nil))
	var list trace.SpanList
	if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if got, want := names(list.Spans), []string{"POST pods", "reconcile"}; !slices.Equal(got, want) {
		t.Fatalf("selected %v, want %v", got, want)
	}
	child, parent := list.Spans[0], list.Spans[1]
	if child.ParentID != parent.SpanID || child.Wrote != 8 || child.Code != 201 {
		t.Errorf("request span is %+v", child)
	}
	if parent.Component != "replicaset-controller" || parent.Woke != 7 || parent.Decision != "want 1, have 0, create 1" {
		t.Errorf("reconcile span is %+v", parent)
	}
}

func names(spans []trace.Span) []string {
	var names []string
	for _, s := range spans {
		names = append(names, s.Name)
	}
	return names
}
