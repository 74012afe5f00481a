package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// checks are what health probes look at, by name.
func (s *Server) checks() []check {
	return []check{
		{"ping", func(*http.Request) error { return nil }},
		{"etcd", func(r *http.Request) error { return s.cache.Sync(r.Context()) }},
		{"informer-sync", func(*http.Request) error { return nil }},
	}
}

type check struct {
	name string
	run  func(*http.Request) error
}

// health answers /healthz, /livez, /readyz and one check below them.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	probe, only, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	var out strings.Builder
	failed, found := false, only == ""
	for _, c := range s.checks() {
		if only != "" && only != c.name {
			continue
		}
		found = true
		if err := c.run(r); err != nil {
			failed = true
			fmt.Fprintf(&out, "[-]%s failed: %v\n", c.name, err)
			continue
		}
		fmt.Fprintf(&out, "[+]%s ok\n", c.name)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, verbose := r.URL.Query()["verbose"]
	switch {
	case !found:
		s.notFound(w, r)
	case failed:
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "%s%s check failed\n", out.String(), probe)
	case verbose:
		fmt.Fprintf(w, "%s%s check passed\n", out.String(), probe)
	default:
		fmt.Fprint(w, "ok")
	}
}

// index lists the paths served.
func (s *Server) index(w http.ResponseWriter, _ *http.Request) {
	paths := []string{"/api", "/api/v1", "/apis"}
	for _, gv := range s.table.groupVersions() {
		if strings.Contains(gv, "/") {
			paths = append(paths, "/apis/"+gv)
		}
	}
	paths = append(paths, "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version")
	body, err := json.MarshalIndent(metav1.RootPaths{Paths: paths}, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, http.StatusOK, form{media: mediaJSON}, body)
}
