package trace

import (
	"encoding/json"
	"slices"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Span is a finished span as the recorder serves it, with the vocabulary's
// attributes as fields.
type Span struct {
	Name     string    `json:"name"`
	TraceID  string    `json:"traceID"`
	SpanID   string    `json:"spanID"`
	ParentID string    `json:"parentID,omitempty"`
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`

	Component   string `json:"component,omitempty"`
	Object      string `json:"object,omitempty"`
	UID         string `json:"uid,omitempty"`
	Verb        string `json:"verb,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	UserAgent   string `json:"userAgent,omitempty"`
	Code        int64  `json:"code,omitempty"`
	User        string `json:"user,omitempty"`
	// Who sent it was known by AuthenticatedBy; it passed by AllowedBy, or Needed something.
	AuthenticatedBy string `json:"authenticatedBy,omitempty"`
	AllowedBy       string `json:"allowedBy,omitempty"`
	Needed          string `json:"needed,omitempty"`

	Changed []Change `json:"changed,omitempty"` // by admission plugins

	Wrote      int64  `json:"wrote,omitempty"`
	Woke       int64  `json:"woke,omitempty"`
	WokeObject string `json:"wokeBy,omitempty"`
	Decision   string `json:"decision,omitempty"`
	Error      string `json:"error,omitempty"`

	Nodes json.RawMessage `json:"nodes,omitempty"`
}

func newSpan(ended sdktrace.ReadOnlySpan) Span {
	s := Span{
		Name:    ended.Name(),
		TraceID: ended.SpanContext().TraceID().String(),
		SpanID:  ended.SpanContext().SpanID().String(),
		Start:   ended.StartTime(),
		End:     ended.EndTime(),
	}
	if ended.Parent().HasSpanID() {
		s.ParentID = ended.Parent().SpanID().String()
	}
	if status := ended.Status(); status.Code == codes.Error {
		s.Error = status.Description
	}
	for _, attr := range ended.Attributes() {
		switch attr.Key {
		case Component:
			s.Component = attr.Value.AsString()
		case Object:
			s.Object = attr.Value.AsString()
		case UID:
			s.UID = attr.Value.AsString()
		case Verb:
			s.Verb = attr.Value.AsString()
		case Subresource:
			s.Subresource = attr.Value.AsString()
		case UserAgent:
			s.UserAgent = attr.Value.AsString()
		case Code:
			s.Code = attr.Value.AsInt64()
		case User:
			s.User = attr.Value.AsString()
		case AuthenticatedBy:
			s.AuthenticatedBy = attr.Value.AsString()
		case AllowedBy:
			s.AllowedBy = attr.Value.AsString()
		case Needed:
			s.Needed = attr.Value.AsString()
		case Changed:
			if err := json.Unmarshal([]byte(attr.Value.AsString()), &s.Changed); err != nil {
				s.Changed = nil
			}
		case Wrote:
			s.Wrote = attr.Value.AsInt64()
		case Woke:
			s.Woke = attr.Value.AsInt64()
		case WokeObject:
			s.WokeObject = attr.Value.AsString()
		case Decision:
			s.Decision = attr.Value.AsString()
		case Nodes:
			s.Nodes = json.RawMessage(attr.Value.AsString())
		}
	}
	return s
}

// Select keeps the spans about one of the objects, in their order, together
// with the spans they are children of: the reconcile of a ReplicaSet says why
// one of its pods was created. Without objects it keeps all.
func Select(spans []Span, objects ...string) []Span {
	if len(objects) == 0 {
		return spans
	}
	wanted := map[string]bool{} // by span ID
	for _, s := range spans {
		if slices.Contains(objects, s.Object) {
			wanted[s.SpanID] = true
			if s.ParentID != "" {
				wanted[s.ParentID] = true
			}
		}
	}
	var selected []Span
	for _, s := range spans {
		if wanted[s.SpanID] {
			selected = append(selected, s)
		}
	}
	return selected
}
