package apiserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubesim/kubesim/apiserver/rbac"
	"github.com/kubesim/kubesim/trace"
)

// maxInFlight bounds the requests that are worked on at once; watches don't count.
const maxInFlight = 600

// filters are what every request passes before it is routed.
func (s *Server) filters(next http.Handler) http.Handler {
	return compress(s.recover(s.guard(s.identify(s.disturb(s.fairly(s.authorize(next)))))))
}

// recover answers a panic with 500 and keeps the server alive.
func (s *Server) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v)
			default:
				s.log.Error("Recovered from a panic", "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
				s.writeError(w, r, form{media: mediaJSON}, apierrors.NewInternalError(fmt.Errorf("panic: %v", v)))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// guard refuses requests that a page of another site makes a browser send: the
// Host and the Origin must be this machine's.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		if !s.allowedHost(host) {
			s.writeError(w, r, form{media: mediaJSON}, statusError(http.StatusForbidden, "Forbidden", nil, "Host %q is not served here", r.Host))
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			u, err := url.Parse(origin)
			if err != nil || !s.allowedHost(hostOf(u.Host)) {
				s.writeError(w, r, form{media: mediaJSON}, statusError(http.StatusForbidden, "Forbidden", nil, "Origin %q may not use this server", origin))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// disturb lets Config.Faults answer in place of the server.
func (s *Server) disturb(next http.Handler) http.Handler {
	if s.cfg.Faults == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := func() *rbac.Attributes { return attributesOf(r, userOf(r.Context())) }
		if err := s.cfg.Faults(w, r, asked, next); err != nil {
			s.writeError(w, r, form{media: mediaJSON}, err)
		}
	})
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// allowedHost accepts loopback names and addresses, the names of the API
// service, and what the configuration adds.
func (s *Server) allowedHost(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || slices.Contains(s.cfg.AllowedHosts, host)
	}
	known := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	return slices.Contains(known, strings.ToLower(host)) || slices.Contains(s.cfg.AllowedHosts, host)
}

// acquire takes one of the places for requests in flight.
func (s *Server) acquire() (func(), error) {
	select {
	case s.inFlight <- struct{}{}:
		return func() { <-s.inFlight }, nil
	default:
		return nil, apierrors.NewTooManyRequests("too many requests, please try again later", 1)
	}
}

// observe makes a span and the metrics of a request.
func (s *Server) observe(ctx context.Context, q *request) (context.Context, func(code int)) {
	start := s.clock.Now()
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(q.r.Header))
	object := trace.ObjectName(q.res.Resource, q.res.Group, q.namespace, q.name)
	ctx, span := s.tracer.Start(ctx, "request", oteltrace.WithTimestamp(start), oteltrace.WithSpanKind(oteltrace.SpanKindServer),
		oteltrace.WithAttributes(trace.Component.String("apiserver"), trace.Verb.String(q.verb), trace.Object.String(object),
			trace.UserAgent.String(userAgent(q.r)), attribute.String("kubesim.subresource", q.sub.Name)))
	if c := callerOf(q.r.Context()); span.IsRecording() && c.by != "" {
		span.SetAttributes(trace.User.String(c.acts().Username), trace.AuthenticatedBy.String(c.knownBy()), trace.AllowedBy.String(c.allowed.String()))
	}
	return ctx, func(code int) {
		now := s.clock.Now()
		span.SetAttributes(trace.Code.Int(code))
		span.End(oteltrace.WithTimestamp(now))
		s.metrics.observe(q, code, now.Sub(start))
	}
}

// userAgent is the first word of the client's User-Agent, without its version.
func userAgent(r *http.Request) string {
	first, _, _ := strings.Cut(r.UserAgent(), " ")
	name, _, _ := strings.Cut(first, "/")
	return name
}

// wrote notes what a request stored, for the trace and for those who read it next.
func (s *Server) wrote(ctx context.Context, q *request, revision int64, obj runtime.Object) {
	q.traceWrite(ctx, revision, obj)
	if q.res.Storage == nil && q.res.Custom == nil {
		accessorOf(obj).SetResourceVersion(formatRevision(revision))
		s.codec.recent.put(revision, obj)
	}
}

// traceWrite notes in the request's span which revision of what it made.
func (q *request) traceWrite(ctx context.Context, revision int64, obj runtime.Object) {
	span := oteltrace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	m := accessorOf(obj)
	span.SetAttributes(trace.Wrote.Int64(revision), trace.UID.String(string(m.GetUID())),
		trace.Object.String(trace.ObjectName(q.res.Resource, q.res.Group, m.GetNamespace(), m.GetName())))
}
