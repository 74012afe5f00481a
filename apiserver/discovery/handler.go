package discovery

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/munnerz/goautoneg"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// Handler serves the documents.
type Handler struct {
	rows    func() []*kinds.Kind
	remotes func() []Remote

	mu      sync.Mutex
	current *documents
}

// New returns a Handler of a table, which rows lists in its order, and of what other
// servers serve. Rows are replaced, never changed, once they were listed.
func New(rows func() []*kinds.Kind, remotes func() []Remote) *Handler {
	return &Handler{rows: rows, remotes: remotes}
}

// documents are those of the table as it is now.
func (h *Handler) documents() *documents {
	rows, remotes := h.rows(), h.remotes()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current == nil || !slices.Equal(h.current.rows, rows) || !slices.Equal(h.current.remotes, remotes) {
		h.current = newDocuments(rows, remotes)
	}
	return h.current
}

// Core serves /api.
func (h *Handler) Core(w http.ResponseWriter, r *http.Request) {
	if wantsAggregated(r) {
		h.documents().coreAggregated.serve(w, r)
		return
	}
	newDocument(coreVersions(r.Host)).serve(w, r)
}

// Groups serves /apis.
func (h *Handler) Groups(w http.ResponseWriter, r *http.Request) {
	d := h.documents()
	if wantsAggregated(r) {
		d.aggregated.serve(w, r)
		return
	}
	d.groups.serve(w, r)
}

// Group serves /apis/GROUP.
func (h *Handler) Group(w http.ResponseWriter, r *http.Request) {
	h.byPath(w, r)
}

// Resources serves /api/v1 and /apis/GROUP/VERSION.
func (h *Handler) Resources(w http.ResponseWriter, r *http.Request) {
	h.byPath(w, r)
}

func (h *Handler) byPath(w http.ResponseWriter, r *http.Request) {
	doc, ok := h.documents().byPath[strings.TrimSuffix(r.URL.Path, "/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	doc.serve(w, r)
}

// wantsAggregated tells whether the client likes the aggregated form best.
func wantsAggregated(r *http.Request) bool {
	for _, c := range goautoneg.ParseAccept(r.Header.Get("Accept")) {
		if c.Params["as"] == "" {
			return false
		}
		if c.Params["as"] == "APIGroupDiscoveryList" && c.Params["g"] == "apidiscovery.k8s.io" && c.Params["v"] == "v2" {
			return true
		}
	}
	return false
}
