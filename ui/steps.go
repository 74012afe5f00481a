package ui

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/kubesim/kubesim/trace"
	"github.com/kubesim/kubesim/trace/timeline"
)

// step is a step of a timeline with what the page needs to repeat its request.
type step struct {
	At          float64   `json:"at"`   // milliseconds since the first request began
	From        float64   `json:"from"` // the same of what woke the writer; of the request itself if that is unknown
	Time        time.Time `json:"time"`
	Revision    int64     `json:"revision"`
	Who         string    `json:"who"`
	Did         string    `json:"did"`
	Verb        string    `json:"verb"`
	Subresource string    `json:"subresource,omitempty"`
	Object      string    `json:"object"`
	Why         string    `json:"why,omitempty"`
	Woke        int64     `json:"woke,omitempty"`
	WokeObject  string    `json:"wokeBy,omitempty"`
}

// stepsHandler answers with the steps of the object in the query and of what
// was made on its behalf.
func stepsHandler(spans func() []trace.Span) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		root := r.URL.Query().Get("object")
		if root == "" {
			http.Error(w, "the query parameter object is missing", http.StatusBadRequest)
			return
		}
		known := spans()
		w.Header().Set("Content-Type", "application/json")
		// An error means that the client left: there is nobody to tell.
		_ = json.NewEncoder(w).Encode(map[string][]step{"steps": steps(known, root)})
	})
}

func steps(spans []trace.Span, root string) []step {
	requests := map[int64]*trace.Span{} // by the revision written
	for i := range spans {
		s := &spans[i]
		if s.Wrote == 0 || s.Verb == "" {
			continue
		}
		// A write that changed nothing tells the revision of the one before.
		if first := requests[s.Wrote]; first == nil || s.Start.Before(first.Start) {
			requests[s.Wrote] = s
		}
	}
	found := []step{}
	for _, s := range timeline.Build(spans, timeline.Descendants(spans, root)) {
		request := requests[s.Revision]
		from := request.Start
		if woke := requests[s.Woke]; woke != nil {
			from = woke.End
		}
		found = append(found, step{
			At: milliseconds(s.At), From: milliseconds(s.At - max(0, request.End.Sub(from))), Time: request.End, Revision: s.Revision, Who: s.Who, Did: s.Did,
			Verb: request.Verb, Subresource: request.Subresource,
			Object: s.Object, Why: s.Why, Woke: s.Woke, WokeObject: s.WokeObject,
		})
	}
	return found
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
