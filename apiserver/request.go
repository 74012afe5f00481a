package apiserver

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// request is one call on a resource.
type request struct {
	w     http.ResponseWriter
	r     *http.Request
	res   *resource
	sub   kinds.Subresource // Name is "" for the resource itself
	verb  string
	query url.Values
	form  form

	namespace, name string
	rest            string // of the path, behind a proxy subresource
}

// dryRun is true when the request must not change anything.
func (q *request) dryRun() bool { return q.query.Get("dryRun") == "All" }

// custom is true when the request speaks of whole custom resources, not of a Scale.
func (q *request) custom() bool { return q.res.Custom != nil && q.sub.Kind.Kind == "" }

// subject is the resource that errors name: a subresource counts with its parent.
func (q *request) subject() schema.GroupResource { return q.res.GroupResource() }

// path is a request path taken apart, before it is known whether it exists.
type path struct {
	group, version, resource, namespace, name, subresource, rest string
	watch                                                        bool // legacy /watch/ paths
}

// parsePath takes /api/v1/… and /apis/GROUP/VERSION/… apart.
func parsePath(p string) (path, bool) {
	parts := strings.Split(strings.Trim(p, "/"), "/")
	var out path
	switch {
	case parts[0] == "api" && len(parts) > 2:
		out.version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		out.group, out.version, parts = parts[1], parts[2], parts[3:]
	default:
		return out, false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		out.watch, parts = true, parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !namespaceSubresources[parts[2]] {
		out.namespace, parts = parts[1], parts[2:]
	}
	out.resource = parts[0]
	if len(parts) > 1 {
		out.name = parts[1]
	}
	if len(parts) > 2 {
		out.subresource = parts[2]
	}
	if len(parts) > 3 {
		out.rest = strings.Join(parts[3:], "/")
	}
	return out, true
}

// namespaceSubresources tells /namespaces/x/status from /namespaces/x/pods.
var namespaceSubresources = map[string]bool{"status": true, "finalize": true}

// verbOf names what a method does to an object or, without a name, to a collection.
func verbOf(method string, named, watch bool) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case watch:
			return "watch"
		case named:
			return "get"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if named {
			return "delete"
		}
		return "deletecollection"
	}
	return ""
}

// resource finds a row of the table. One that is not built in may have been added or
// changed by a definition just now.
func (s *Server) resource(group, version, name string) *resource {
	res := s.table.get(group, version, name)
	if res != nil && res.Custom == nil {
		return res
	}
	s.definitions.catchUp()
	return s.table.get(group, version, name)
}

// servesVersion tells whether some resource has the group version of a path.
func (s *Server) servesVersion(path string) bool {
	p, ok := parsePath(path)
	if !ok {
		return true // what it is of can't be told
	}
	return slices.Contains(s.table.groupVersions(), schema.GroupVersion{Group: p.group, Version: p.version}.String())
}

// resolve turns a path into a request on a served resource.
func (s *Server) resolve(w http.ResponseWriter, r *http.Request) (*request, error) {
	p, ok := parsePath(r.URL.Path)
	if !ok {
		return nil, errNoResource
	}
	res := s.resource(p.group, p.version, p.resource)
	if res == nil || !res.Namespaced && p.namespace != "" || p.rest != "" && p.subresource != "proxy" {
		return nil, errNoResource
	}
	query := r.URL.Query()
	if p.watch && p.name != "" {
		query.Set("fieldSelector", "metadata.name="+p.name)
	}
	watch := p.watch || p.name == "" && isSet(query, "watch") // on one object it means nothing
	q := &request{w: w, r: r, res: res, query: query, namespace: p.namespace, name: p.name, rest: p.rest}
	q.verb = verbOf(r.Method, p.name != "", watch && r.Method == http.MethodGet)
	if err := q.allow(p); err != nil {
		return nil, err
	}
	var err error
	q.form, err = negotiate(r, q.verb, q.custom())
	return q, err
}

// allow refuses a verb that the resource or its subresource does not serve.
func (q *request) allow(p path) error {
	verbs := q.res.Verbs
	if verbs == nil {
		verbs = kinds.AllVerbs
	}
	if p.subresource != "" {
		sub, ok := q.res.subresource(p.subresource)
		if !ok && q.res.Custom != nil {
			return apierrors.NewNotFound(q.subject(), p.name)
		}
		if !ok {
			return errNoResource
		}
		q.sub, verbs = sub, sub.Verbs
	}
	named := q.verb != "create" && q.verb != "list" && q.verb != "deletecollection" && q.verb != "watch"
	if q.res.Namespaced && p.namespace == "" && (named || q.verb == "create" && q.sub.Name == "") && p.name != "" {
		return errNoResource
	}
	for _, v := range verbs {
		if v == q.verb && (p.name != "") == (named || q.sub.Name != "" || q.verb == "watch" && p.name != "") &&
			!(q.res.Namespaced && p.namespace == "" && q.verb == "create") {
			return nil
		}
	}
	return apierrors.NewMethodNotSupported(q.subject(), q.r.Method)
}
