package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	oteltrace "go.opentelemetry.io/otel/trace"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	operator "k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/kubesim/kubesim/apiserver/audit"
	"github.com/kubesim/kubesim/apiserver/authentication"
	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/rbac"
	"github.com/kubesim/kubesim/trace"
)

// caller is who sends a request, and why he may.
type caller struct {
	user    authenticationv1.UserInfo
	by      string                     // what he is known by
	as      *authenticationv1.UserInfo // whom he acts as
	allowed rbac.Decision              // by which rule
}

// acts is the user who counts.
func (c *caller) acts() authenticationv1.UserInfo {
	if c.as != nil {
		return *c.as
	}
	return c.user
}

// knownBy says by what it is known who the user is, and who acts as him.
func (c *caller) knownBy() string {
	if c.as == nil {
		return c.by
	}
	return c.by + ", impersonated by " + c.user.Username
}

type callerKey struct{}

// callerOf is who sends the request of a context; an empty one for the server itself.
func callerOf(ctx context.Context) *caller {
	if c, ok := ctx.Value(callerKey{}).(*caller); ok {
		return c
	}
	return &caller{}
}

// userOf is the user who counts in the request of a context.
func userOf(ctx context.Context) authenticationv1.UserInfo { return callerOf(ctx).acts() }

// identify finds out who sends the request, or refuses it with 401.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := s.authenticator.Authenticate(r)
		c := &caller{user: id.User, by: id.By}
		if err == nil {
			c.as, err = s.impersonate(r, id.User)
		} else {
			s.log.Debug("Refused credentials", "path", r.URL.Path, "err", err)
			err = apierrors.NewUnauthorized("Unauthorized")
		}
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
		handler := next
		if err != nil {
			handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.writeError(w, r, form{media: mediaJSON}, err) })
		}
		s.audited(handler, c).ServeHTTP(w, r)
	})
}

// audited writes down what becomes of a request, if there is an audit log.
func (s *Server) audited(next http.Handler, c *caller) http.Handler {
	if s.cfg.Audit == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entry, r := s.cfg.Audit.Begin(r, recordOf(attributesOf(r, c.acts())), c.user, c.as)
		panicked := true
		defer func() { entry.End(panicked) }()
		next.ServeHTTP(entry.Writer(w), r)
		panicked = false
	})
}

// recordOf is what is asked in the form of the libraries for audit and webhooks.
func recordOf(a *rbac.Attributes) authorizer.Attributes {
	var extra map[string][]string
	for key, values := range a.User.Extra {
		if extra == nil {
			extra = map[string][]string{}
		}
		extra[key] = values
	}
	return authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: a.User.Username, UID: a.User.UID, Groups: a.User.Groups, Extra: extra}, Verb: a.Verb,
		APIGroup: a.Group, APIVersion: a.Version, Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name,
		ResourceRequest: a.Path == "", Path: a.Path,
	}
}

// authorize refuses what the user may not do with 403. That comes before it is
// known whether what he wants exists, so that a refusal gives nothing away.
func (s *Server) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callerOf(r.Context())
		if isMaster(c.acts()) {
			c.allowed = rbac.Decision{Allowed: true, Reason: "group " + authentication.Masters}
			next.ServeHTTP(w, r)
			return
		}
		a := attributesOf(r, c.acts())
		d := s.decide(a)
		if !d.Allowed && s.cache.Sync(r.Context()) == nil { // a role that was given just now counts
			d = s.decide(a)
		}
		entry := audit.From(r.Context())
		entry.Annotate("authorization.k8s.io/reason", d.Reason)
		if !d.Allowed {
			entry.Annotate("authorization.k8s.io/decision", "forbid")
			s.traceRefusal(r, a, d.Reason)
			s.writeError(w, r, form{media: mediaJSON}, refusal(a, d.Reason))
			return
		}
		entry.Annotate("authorization.k8s.io/decision", "allow")
		c.allowed = d
		next.ServeHTTP(w, r)
	})
}

// traceRefusal leaves a span of a request that comes no further, with what would
// have let it.
func (s *Server) traceRefusal(r *http.Request, a *rbac.Attributes, reason string) {
	object := a.Path
	if object == "" {
		object = trace.ObjectName(a.Resource, a.Group, a.Namespace, a.Name)
	}
	needed := "a role that allows " + a.Verb + " on " + object
	now := s.clock.Now()
	_, span := s.tracer.Start(r.Context(), "request", oteltrace.WithTimestamp(now), oteltrace.WithSpanKind(oteltrace.SpanKindServer),
		oteltrace.WithAttributes(trace.Component.String("apiserver"), trace.Verb.String(a.Verb), trace.Object.String(object),
			trace.UserAgent.String(userAgent(r)), trace.Code.Int(http.StatusForbidden),
			trace.User.String(a.User.Username), trace.AuthenticatedBy.String(callerOf(r.Context()).knownBy()), trace.Needed.String(needed)))
	if reason != "" {
		span.SetAttributes(trace.AllowedBy.String(reason))
	}
	span.End(oteltrace.WithTimestamp(now))
}

// isMaster tells whether a user may do everything, by no role's leave.
func isMaster(user authenticationv1.UserInfo) bool {
	return slices.Contains(user.Groups, authentication.Masters)
}

// allowed tells whether a user may do something, and why.
func (s *Server) allowed(a *rbac.Attributes) (bool, string) {
	d := s.decide(a)
	return d.Allowed, d.Reason
}

// refusal is the answer in Kubernetes' words.
func refusal(a *rbac.Attributes, reason string) error {
	message := a.String()
	if reason != "" {
		message += ": " + reason
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: a.Group, Resource: a.Resource}, a.Name, errors.New(message))
}

// attributesOf are what a request asks leave for.
func attributesOf(r *http.Request, user authenticationv1.UserInfo) *rbac.Attributes {
	p, ok := parsePath(r.URL.Path)
	if !ok {
		return &rbac.Attributes{User: user, Verb: strings.ToLower(r.Method), Path: r.URL.Path}
	}
	query := r.URL.Query()
	watch := p.watch || p.name == "" && isSet(query, "watch")
	a := &rbac.Attributes{
		User: user, Verb: verbOf(r.Method, p.name != "", watch && r.Method == http.MethodGet),
		Group: p.group, Version: p.version, Resource: p.resource, Subresource: p.subresource, Namespace: p.namespace, Name: p.name,
	}
	if p.resource == "namespaces" && p.namespace == "" && p.name != "" { // a namespace counts as in itself
		a.Namespace = p.name
	}
	a.Fields = selectedFields(query.Get("fieldSelector"))
	if a.Name == "" && (a.Verb == "list" || a.Verb == "watch" || a.Verb == "deletecollection") {
		a.Name = a.Fields["metadata.name"]
	}
	return a
}

// selectedFields are the values that a field selector asks for.
func selectedFields(selector string) map[string]string {
	if selector == "" {
		return nil
	}
	parsed, err := fields.ParseSelector(selector)
	if err != nil {
		return nil // refused later, with words
	}
	out := map[string]string{}
	for _, r := range parsed.Requirements() {
		if r.Operator == operator.Equals || r.Operator == operator.DoubleEquals {
			out[r.Field] = r.Value
		}
	}
	return out
}

// impersonate tells whom the request is to count for, if this user may act as
// that one; nil for nobody else.
func (s *Server) impersonate(r *http.Request, user authenticationv1.UserInfo) (*authenticationv1.UserInfo, error) {
	as := &authenticationv1.UserInfo{
		Username: r.Header.Get("Impersonate-User"), UID: r.Header.Get("Impersonate-Uid"), Groups: r.Header.Values("Impersonate-Group"),
		Extra: impersonatedExtra(r.Header),
	}
	if as.Username == "" {
		if as.UID != "" || len(as.Groups) > 0 || len(as.Extra) > 0 {
			return nil, apierrors.NewInternalError(errors.New("requested groups, uid or extra without impersonating a user"))
		}
		return nil, nil
	}
	for _, a := range impersonations(user, *as) {
		if allowed, reason := s.allowed(a); !allowed {
			return nil, refusal(a, reason)
		}
	}
	if namespace, _, ok := authentication.SplitAccount(as.Username); ok && len(as.Groups) == 0 {
		as.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
	}
	switch {
	case as.Username == authentication.AnonymousUser:
		if !slices.Contains(as.Groups, authentication.Unauthenticated) {
			as.Groups = append(as.Groups, authentication.Unauthenticated)
		}
	case !slices.Contains(as.Groups, authentication.Authenticated) && !slices.Contains(as.Groups, authentication.Unauthenticated):
		as.Groups = append(as.Groups, authentication.Authenticated)
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") { // a server behind this one must not act on them again
			r.Header.Del(name)
		}
	}
	return as, nil
}

// impersonatedExtra are the values of Impersonate-Extra-KEY headers.
func impersonatedExtra(header http.Header) map[string]authenticationv1.ExtraValue {
	var extra map[string]authenticationv1.ExtraValue
	for name, values := range header {
		key, ok := strings.CutPrefix(name, "Impersonate-Extra-")
		if !ok {
			continue
		}
		if extra == nil {
			extra = map[string]authenticationv1.ExtraValue{}
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		extra[key] = append(extra[key], values...)
	}
	return extra
}

// impersonations are what it takes to act as another user.
func impersonations(user, as authenticationv1.UserInfo) []*rbac.Attributes {
	verb := func(group, resource, namespace, name string) *rbac.Attributes {
		return &rbac.Attributes{User: user, Verb: "impersonate", Group: group, Version: "v1", Resource: resource, Namespace: namespace, Name: name}
	}
	var out []*rbac.Attributes
	if namespace, name, ok := authentication.SplitAccount(as.Username); ok {
		out = append(out, verb("", "serviceaccounts", namespace, name))
	} else {
		out = append(out, verb("", "users", "", as.Username))
	}
	for _, group := range as.Groups {
		out = append(out, verb("", "groups", "", group))
	}
	if as.UID != "" {
		out = append(out, verb(authenticationv1.GroupName, "uids", "", as.UID))
	}
	for key, values := range as.Extra {
		for _, value := range values {
			a := verb(authenticationv1.GroupName, "userextras", "", value)
			a.Subresource = key
			out = append(out, a)
		}
	}
	return out
}

// roles reads roles and bindings from the cache. A change counts as soon as the
// cache has it.
type roles struct{ s *Server }

// ClusterRoleBindings implements rbac.Lister.
func (l roles) ClusterRoleBindings() ([]*rbacv1.ClusterRoleBinding, error) {
	return listCached[*rbacv1.ClusterRoleBinding](l.s, rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"), "")
}

// RoleBindings implements rbac.Lister.
func (l roles) RoleBindings(namespace string) ([]*rbacv1.RoleBinding, error) {
	return listCached[*rbacv1.RoleBinding](l.s, rbacv1.SchemeGroupVersion.WithResource("rolebindings"), namespace)
}

// ClusterRole implements rbac.Lister.
func (l roles) ClusterRole(name string) (*rbacv1.ClusterRole, error) {
	return getCached[*rbacv1.ClusterRole](l.s, "clusterroles", "", name)
}

// Role implements rbac.Lister.
func (l roles) Role(namespace, name string) (*rbacv1.Role, error) {
	return getCached[*rbacv1.Role](l.s, "roles", namespace, name)
}

func getCached[T any](s *Server, resource, namespace, name string) (T, error) {
	var none T
	res := s.table.get(rbacv1.GroupName, "v1", resource)
	e := s.cache.Resource(res.prefix).Get(res.key(namespace, name))
	if e == nil {
		return none, apierrors.NewNotFound(res.GroupResource(), name)
	}
	return decodeCached[T](s, res, e)
}

func listCached[T any](s *Server, gvr schema.GroupVersionResource, namespace string) ([]T, error) {
	res := s.table.get(gvr.Group, gvr.Version, gvr.Resource)
	var out []T
	var errs []error
	s.cache.Resource(res.prefix).Snapshot().Each(res.key(namespace, ""), "", func(e *cache.Entry) bool {
		obj, err := decodeCached[T](s, res, e)
		if err != nil {
			errs = append(errs, err)
		} else {
			out = append(out, obj)
		}
		return true
	})
	return out, errors.Join(errs...)
}

func decodeCached[T any](s *Server, res *resource, e *cache.Entry) (T, error) {
	var none T
	obj, err := e.Decoded(func() (runtime.Object, error) { return s.codec.shared(res, e) })
	if err != nil {
		return none, err
	}
	typed, ok := obj.(T)
	if !ok {
		return none, fmt.Errorf("%s is a %T", e.Key, obj)
	}
	return typed, nil
}
