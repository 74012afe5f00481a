package apiserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// watchesPath tells where each watch is in the log of revisions.
const watchesPath = "/debug/kubesim/watches"

// endedWatches is how many watches are remembered after their end.
const endedWatches = 100

// watchState is what is told of a watch.
type watchState struct {
	ID        int64      `json:"id"` // rises from watch to watch
	User      string     `json:"user"`
	UserAgent string     `json:"userAgent"`
	Resource  string     `json:"resource"` // with its group, as in spans: deployments.apps
	Namespace string     `json:"namespace,omitempty"`
	Selector  string     `json:"selector,omitempty"` // labels, then fields
	From      int64      `json:"from"`               // revision where it began
	Seen      int64      `json:"seen"`               // revision up to which the client has been told
	Behind    int        `json:"behind"`             // events of the resource after that
	Opened    time.Time  `json:"opened"`
	Ended     *time.Time `json:"ended,omitempty"`
	Why       string     `json:"why,omitempty"` // of the end
}

// watches are the open watches, and the last ones that ended.
type watches struct {
	last      atomic.Int64 // ID
	compacted atomic.Int64 // revision up to which overwritten ones are forgotten

	mu    sync.Mutex
	open  map[*watcher]watchState
	ended []watchState // by their ends
}

// begin notes that a watch is open.
func (ws *watches) begin(w *watcher, now time.Time) {
	state := watchState{
		ID: ws.last.Add(1), User: userOf(w.q.r.Context()).Username, UserAgent: w.q.r.UserAgent(),
		Resource: w.q.res.GroupResource().String(), Namespace: w.q.namespace,
		Selector: joined(w.opts.LabelSelector, w.opts.FieldSelector), From: w.sent.Load(), Opened: now,
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.open == nil {
		ws.open = map[*watcher]watchState{}
	}
	ws.open[w] = state
}

// end notes that a watch is over, and why.
func (ws *watches) end(w *watcher, now time.Time, why string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	state := ws.open[w]
	delete(ws.open, w)
	state.Seen, state.Ended, state.Why = w.sent.Load(), &now, why
	if len(ws.ended) == endedWatches {
		ws.ended = ws.ended[1:]
	}
	ws.ended = append(ws.ended, state)
}

// state is that of all watches, in the order in which they began.
func (ws *watches) state() (open, ended []watchState) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	open = make([]watchState, 0, len(ws.open))
	for w, state := range ws.open {
		state.Seen = w.sent.Load()
		state.Behind = w.s.cache.Resource(w.q.res.prefix).After(state.Seen)
		open = append(open, state)
	}
	slices.SortFunc(open, func(a, b watchState) int { return int(a.ID - b.ID) })
	return open, slices.Clone(ws.ended)
}

// serveWatches answers with the log's ends and each watch's place in it.
func (s *Server) serveWatches(w http.ResponseWriter, _ *http.Request) {
	var answer struct {
		Revision  int64        `json:"revision"`  // the last that the watch cache has seen
		Compacted int64        `json:"compacted"` // older ones answer 410; 0 if nothing was compacted yet
		Watches   []watchState `json:"watches"`
		Ended     []watchState `json:"ended"`
	}
	answer.Watches, answer.Ended = s.watches.state()
	answer.Compacted, answer.Revision = s.watches.compacted.Load(), s.cache.Revision()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // an error means that the client has left
}

func joined(selectors ...string) string {
	text := ""
	for _, s := range selectors {
		if text != "" && s != "" {
			text += ","
		}
		text += s
	}
	return text
}
