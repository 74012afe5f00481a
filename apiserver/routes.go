package apiserver

import (
	"context"
	"net/http"
	"strings"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// routes are all paths served. One handler takes the paths of all resources.
func (s *Server) routes() http.Handler {
	r := mux.NewRouter().SkipClean(true)
	r.NotFoundHandler = http.HandlerFunc(s.notFound)
	r.HandleFunc("/version", s.discovery.Version)
	r.HandleFunc("/api", s.discovery.Core)
	r.HandleFunc("/api/{version}", s.discovery.Resources)
	r.HandleFunc("/apis", s.discovery.Groups)
	r.HandleFunc("/apis/{group}", s.discovery.Group)
	if s.cfg.Metrics {
		r.PathPrefix(metricsPath).Handler(newMetricsAPI(s))
	}
	r.MatcherFunc(s.aggregation.forwarded).HandlerFunc(s.aggregation.forward)
	r.HandleFunc("/apis/{group}/{version}", s.discovery.Resources)
	r.PathPrefix("/api/").HandlerFunc(s.serveResource)
	r.PathPrefix("/apis/").HandlerFunc(s.serveResource)
	r.HandleFunc("/openapi/v2", s.openapi.V2)
	r.PathPrefix("/openapi/v3").HandlerFunc(s.openapi.V3)
	for _, probe := range []string{"/healthz", "/livez", "/readyz"} {
		r.HandleFunc(probe, s.health)
		r.PathPrefix(probe + "/").HandlerFunc(s.health)
	}
	r.Handle("/metrics", promhttp.HandlerFor(prometheus.Gatherers{s.cfg.Registry, prometheus.DefaultGatherer}, promhttp.HandlerOpts{}))
	r.HandleFunc("/.well-known/openid-configuration", s.tokenIssuer)
	r.HandleFunc("/openid/v1/jwks", s.tokenKeys)
	r.HandleFunc(watchesPath, s.serveWatches)
	if s.cfg.Debug != nil {
		r.PathPrefix("/debug/kubesim/").Handler(s.cfg.Debug)
	}
	if s.cfg.UI != nil {
		r.PathPrefix("/ui/").Handler(s.cfg.UI)
		r.Handle("/ui", http.RedirectHandler("/ui/", http.StatusMovedPermanently))
	}
	r.HandleFunc("/", s.index)
	return r
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	if p := strings.TrimSuffix(r.URL.Path, "/"); p != r.URL.Path && p != "" { // /api/ is /api
		r.URL.Path = p
		s.handler.ServeHTTP(w, r)
		return
	}
	s.writeError(w, r, form{media: mediaJSON}, errNoResource)
}

// serveResource takes every request on a resource.
func (s *Server) serveResource(w http.ResponseWriter, r *http.Request) {
	q, err := s.resolve(w, r)
	if q == nil && !s.servesVersion(r.URL.Path) {
		http.NotFound(w, r) // plain text: no API is there to speak
		return
	}
	if q == nil {
		s.writeError(w, r, form{media: mediaJSON}, err)
		return
	}
	if err == nil && q.verb != "watch" && !isStream(q.sub.Name) {
		var release func()
		if release, err = s.acquire(); err == nil {
			defer release()
		}
	}
	answer := &answer{ResponseWriter: w}
	q.w = answer
	ctx, done := s.observe(r.Context(), q)
	if q.res.Deprecated != "" {
		warn(answer, q.res.Deprecated)
	}
	if err == nil {
		err = s.verb(q)(ctx, q)
	}
	if err != nil && !answer.begun() {
		s.writeError(answer, r, q.form, err)
	}
	done(answer.code)
}

// verb finds the handler of a request.
func (s *Server) verb(q *request) handler {
	if review := s.review(q); review != nil {
		return review
	}
	if q.sub.Name != "" && q.sub.Name != "status" || q.res.Resource == "bindings" {
		return s.connect(q)
	}
	return s.own(q.verb)
}

// own finds the handler of a verb on a kind, or on a subresource that speaks its
// parent's kind.
func (s *Server) own(verb string) handler {
	switch verb {
	case "get":
		return s.get
	case "list":
		return s.list
	case "watch":
		return s.watch
	case "create":
		return s.create
	case "update":
		return s.update
	case "patch":
		return s.patch
	case "delete":
		return s.delete
	case "deletecollection":
		return s.deleteCollection
	}
	return func(_ context.Context, q *request) error {
		return apierrors.NewMethodNotSupported(q.subject(), q.r.Method)
	}
}

// answer remembers the code that was sent.
type answer struct {
	http.ResponseWriter
	code int
}

func (a *answer) begun() bool { return a.code != 0 }

func (a *answer) WriteHeader(code int) {
	if a.code == 0 {
		a.code = code
	}
	a.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
