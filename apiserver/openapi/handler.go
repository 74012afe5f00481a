package openapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// prefixV3 is where the documents of version 3 are served.
const prefixV3 = "/openapi/v3"

// Handler serves the documents.
type Handler struct {
	rows   func() []*kinds.Kind
	models *models

	mu      sync.Mutex
	current []*kinds.Kind
	served  map[string][]*kinds.Kind // by path below the prefix, with the rows described
	v3      *handler3.OpenAPIService
	v2      *swaggerV2
	changes int // counts the documents made anew
}

// New returns a Handler of a table, which rows lists in its order; rows are
// replaced, never changed, once they were listed. The scheme knows their Go types.
func New(rows func() []*kinds.Kind, scheme *runtime.Scheme) *Handler {
	return &Handler{
		rows: rows, models: newModels(scheme),
		served: map[string][]*kinds.Kind{}, v3: handler3.NewOpenAPIService(),
	}
}

// V3 serves /openapi/v3 and what is below.
func (h *Handler) V3(w http.ResponseWriter, r *http.Request) {
	path := strings.Trim(strings.TrimPrefix(r.URL.Path, prefixV3), "/")
	known := h.refresh(path)
	switch {
	case path == "":
		h.v3.HandleDiscovery(w, r)
	case known:
		h.v3.HandleGroupVersion(w, r)
	default:
		http.NotFound(w, r)
	}
}

// V2 serves /openapi/v2.
func (h *Handler) V2(w http.ResponseWriter, r *http.Request) {
	h.refresh("")
	h.mu.Lock()
	v2 := h.v2
	h.mu.Unlock()
	v2.ServeHTTP(w, r)
}

// refresh follows the table. It tells whether a document is served under a path.
func (h *Handler) refresh(path string) (known bool) {
	rows := h.rows()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.v2 == nil || !slices.Equal(h.current, rows) {
		h.current = rows
		h.follow(rows)
		h.v2 = newSwaggerV2(h.models, rows)
	}
	_, known = h.served[path]
	return known
}

// follow announces the documents that are new or changed, and withdraws others.
func (h *Handler) follow(rows []*kinds.Kind) {
	wanted := byPath(rows)
	for path := range h.served {
		if _, ok := wanted[path]; !ok {
			h.v3.DeleteGroupVersion(path)
			delete(h.served, path)
		}
	}
	for path, rows := range wanted {
		if old, ok := h.served[path]; ok && slices.Equal(old, rows) {
			continue
		}
		h.served[path] = rows
		h.changes++
		etag := strconv.Itoa(h.changes)
		h.v3.UpdateGroupVersionLazy(path, cached.Once(cached.Func(func() (*spec3.OpenAPI, string, error) {
			doc, err := documentV3(h.models, path, rows)
			return doc, etag, err
		})))
	}
}

// byPath sorts rows to the documents that describe them: one a group version, and
// one for each document of discovery above.
func byPath(rows []*kinds.Kind) map[string][]*kinds.Kind {
	out := map[string][]*kinds.Kind{"version": nil, "api": nil, "apis": nil}
	for _, k := range rows {
		path := "api/" + k.Version
		if k.Group != "" {
			path = "apis/" + k.Group + "/" + k.Version
			out["apis/"+k.Group] = nil
		}
		out[path] = append(out[path], k)
	}
	return out
}
