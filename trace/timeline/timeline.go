package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/trace"
)

// Step is one write on the way.
type Step struct {
	At       time.Duration // since the first request began
	Revision int64         // that the write made
	Who      string        // component, or the client's User-Agent
	Did      string        // in the past tense: "created", "reported status of"
	Object   string        // what was written, as spans name it
	Why      string        // the component's decision in words, if it gave one
	// Woke is the revision that made the component act, and WokeObject what was
	// written at it; 0 for a client of its own will.
	Woke       int64
	WokeObject string
}

// Build finds the steps that wrote one of the objects, in the order of their
// revisions. The first object is the root, whose first request starts the clock.
func Build(spans []trace.Span, objects []string) []Step {
	if len(objects) == 0 {
		return nil
	}
	byID := make(map[string]*trace.Span, len(spans))
	for i := range spans {
		byID[spans[i].SpanID] = &spans[i]
	}
	var requests []*trace.Span
	for i := range spans {
		if isWrite(&spans[i]) && slices.Contains(objects, spans[i].Object) {
			requests = append(requests, &spans[i])
		}
	}
	slices.SortStableFunc(requests, func(a, b *trace.Span) int { return cmp.Compare(a.Wrote, b.Wrote) })
	// A write that changed nothing answers with the revision of the one before.
	requests = slices.CompactFunc(requests, func(a, b *trace.Span) bool { return a.Wrote == b.Wrote })
	start := startOf(requests, objects[0])
	steps := make([]Step, len(requests))
	for i, request := range requests {
		steps[i] = newStep(request, byID[request.ParentID], start)
	}
	tighten(steps)
	return steps
}

// tighten makes the times as ordered as the revisions. What is measured is when
// each request was answered, some time after its write; but no revision is
// written after a later one, so the earliest answer to a later one bounds it too.
func tighten(steps []Step) {
	for i := len(steps) - 2; i >= 0; i-- {
		steps[i].At = min(steps[i].At, steps[i+1].At)
	}
}

// isWrite tells the spans of requests that changed something.
func isWrite(s *trace.Span) bool {
	return s.Verb != "" && s.Wrote > 0 && s.Code < 300 && !slices.Contains([]string{"get", "list", "watch"}, s.Verb)
}

// startOf is when the first request on the root began, or the first of all when
// the recorder has forgotten that one.
func startOf(requests []*trace.Span, root string) time.Time {
	for _, request := range requests {
		if request.Object == root {
			return request.Start
		}
	}
	if len(requests) == 0 {
		return time.Time{}
	}
	return requests[0].Start
}

func newStep(request, parent *trace.Span, start time.Time) Step {
	step := Step{
		At: request.End.Sub(start), Revision: request.Wrote, Object: request.Object,
		Who: request.UserAgent, Did: did(request),
	}
	if parent != nil {
		step.Who = cmp.Or(parent.Component, step.Who)
		step.Why = parent.Decision
		step.Woke, step.WokeObject = parent.Woke, parent.WokeObject
	}
	return step
}

// did says what a request did, in the past tense.
func did(request *trace.Span) string {
	switch {
	case request.Subresource == "binding":
		return "bound"
	case request.Subresource == "eviction":
		return "evicted"
	case request.Subresource == "status":
		return "reported status of"
	case request.Subresource == "scale":
		return "scaled"
	}
	switch request.Verb {
	case "create":
		return "created"
	case "patch":
		return "patched"
	case "delete", "deletecollection":
		return "deleted"
	}
	return "updated"
}

// Descendants finds what was made on behalf of root: whatever a component
// created while it worked on root, and so on down. Root comes first. Events are
// left out, which tell of steps and are none.
func Descendants(spans []trace.Span, root string) []string {
	about := make(map[string]string, len(spans)) // by span ID: the object worked on
	for _, s := range spans {
		about[s.SpanID] = s.Object
	}
	made := map[string][]string{}
	for _, s := range spans {
		by := about[s.ParentID]
		if s.Verb == "create" && s.Subresource == "" && isWrite(&s) && !isEvent(s.Object) && by != "" && by != s.Object {
			made[by] = append(made[by], s.Object)
		}
	}
	family := []string{root}
	for i := 0; i < len(family); i++ {
		for _, child := range made[family[i]] {
			if !slices.Contains(family, child) {
				family = append(family, child)
			}
		}
	}
	return family
}

func isEvent(object string) bool {
	return strings.HasPrefix(object, "events/") || strings.HasPrefix(object, "events.events.k8s.io/")
}
