package openapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/handler3"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

const (
	// prefixV3 is where the documents of version 3 are served.
	prefixV3 = "/openapi/v3"
	// Where the issuer of ServiceAccount tokens tells of itself.
	issuerPath, keysPath = ".well-known/openid-configuration", "openid/v1/jwks"
)

// Handler serves the documents.
type Handler struct {
	rows    func() []*kinds.Kind
	remotes func() map[string]string
	models  *models

	mu      sync.Mutex
	current []*kinds.Kind
	v3      map[string]described // by path below the prefix
	v2      *document
}

// described is a document with the rows that it describes.
type described struct {
	*document
	etag string
	rows []*kinds.Kind
}

// New returns a Handler of a table, which rows lists in its order; rows are
// replaced, never changed, once they were listed. The scheme knows their Go types.
// remotes are the URLs, by path, of the documents that other servers give.
func New(rows func() []*kinds.Kind, scheme *runtime.Scheme, remotes func() map[string]string) *Handler {
	return &Handler{rows: rows, remotes: remotes, models: newModels(scheme), v3: map[string]described{}}
}

// V3 serves /openapi/v3 and what is below.
func (h *Handler) V3(w http.ResponseWriter, r *http.Request) {
	path := strings.Trim(strings.TrimPrefix(r.URL.Path, prefixV3), "/")
	documents, _ := h.documents()
	if path == "" {
		h.serveIndex(w, documents)
		return
	}
	d, ok := documents[path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if asked := r.URL.Query().Get("hash"); asked != "" {
		if asked != d.etag {
			http.Redirect(w, r, urlOf(path, d.etag), http.StatusMovedPermanently)
			return
		}
		// What a hash names never changes, so clients may keep it for ever.
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
	}
	d.ServeHTTP(w, r)
}

// V2 serves /openapi/v2.
func (h *Handler) V2(w http.ResponseWriter, r *http.Request) {
	_, v2 := h.documents()
	v2.ServeHTTP(w, r)
}

func (h *Handler) serveIndex(w http.ResponseWriter, documents map[string]described) {
	index := handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{}}
	for path, at := range h.remotes() {
		index.Paths[path] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: at}
	}
	for path, d := range documents {
		index.Paths[path] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: urlOf(path, d.etag)}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8") // as Kubernetes has it
	_ = json.NewEncoder(w).Encode(index)                        // a client that is gone needs no answer
}

func urlOf(path, hash string) string {
	return prefixV3 + "/" + path + "?" + url.Values{"hash": {hash}}.Encode()
}

// documents are those of the table as it is now.
func (h *Handler) documents() (v3 map[string]described, v2 *document) {
	rows := h.rows()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.v2 == nil || !slices.Equal(h.current, rows) {
		h.current, h.v3 = rows, h.follow(rows)
		h.v2 = newDocument("",
			func() (any, error) { return documentV2(h.models, rows) },
			func(text []byte) (proto.Message, error) { return openapi_v2.ParseDocument(text) },
			"com.github.proto-openapi.spec.v2.v1.0+protobuf", "com.github.proto-openapi.spec.v2@v1.0+protobuf",
		)
	}
	return h.v3, h.v2
}

// follow keeps the documents whose rows are the same, and announces the others.
func (h *Handler) follow(rows []*kinds.Kind) map[string]described {
	out := map[string]described{}
	for path, rows := range byPath(rows) {
		if old, ok := h.v3[path]; ok && slices.Equal(old.rows, rows) {
			out[path] = old
			continue
		}
		etag := etagOf(path, rows)
		out[path] = described{rows: rows, etag: etag, document: newDocument(etag,
			func() (any, error) { return documentV3(h.models, path, rows) },
			func(text []byte) (proto.Message, error) { return openapi_v3.ParseDocument(text) },
			"com.github.proto-openapi.spec.v3.v1.0+protobuf", "com.github.proto-openapi.spec.v3@v1.0+protobuf",
		)}
	}
	return out
}

// etagOf names the content of a document by what it is made of: this build, and the
// definitions of custom resources. To hash the documents themselves would mean to make
// them all before the first of them can be asked for.
func etagOf(path string, rows []*kinds.Kind) string {
	parts := []string{path}
	if build, ok := debug.ReadBuildInfo(); ok {
		parts = append(parts, build.Main.Version, build.Main.Sum)
	}
	for _, k := range rows {
		if k.Custom != nil {
			parts = append(parts, k.GroupVersionResource().String(), k.Custom.Fingerprint())
		}
	}
	return hash([]byte(strings.Join(parts, "\n")))
}

// byPath sorts rows to the documents that describe them: one a group version, and
// one for each document of discovery above, but for the groups of custom resources.
func byPath(rows []*kinds.Kind) map[string][]*kinds.Kind {
	out := map[string][]*kinds.Kind{"version": nil, "api": nil, "apis": nil, issuerPath: nil, keysPath: nil}
	for _, k := range rows {
		path := "api/" + k.Version
		if k.Group != "" {
			path = "apis/" + k.Group + "/" + k.Version
		}
		if k.Group != "" && !k.Unstructured {
			out["apis/"+k.Group] = nil
		}
		out[path] = append(out[path], k)
	}
	return out
}
