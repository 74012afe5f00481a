package apiserver

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubesim/kubesim/apiserver/cache"
)

// selection is which objects of a resource a list or a watch is about.
type selection struct {
	prefix string // of their keys
	labels labels.Selector
	fields []fieldTest
	// show is how objects look whose fields are tested; nil when that is as stored.
	show func(*cache.Entry) *cache.Entry
}

// fieldTest is one clause of a field selector.
type fieldTest struct {
	path, missing, value string
	equal                bool
}

func (s *Server) selectionOf(q *request) (*selection, error) {
	sel := &selection{prefix: q.res.key(q.namespace, "")}
	if v := q.query.Get("labelSelector"); v != "" {
		parsed, err := labels.Parse(v)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		sel.labels = parsed
	}
	if v := q.query.Get("fieldSelector"); v != "" {
		parsed, err := fields.ParseSelector(v)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if q.res.Custom != nil {
			sel.show = func(e *cache.Entry) *cache.Entry {
				if shown, err := s.codec.shown(q.res, e); err == nil {
					return shown[0]
				}
				return e // which fails when it is sent
			}
		}
		return sel, sel.require(q.res, parsed)
	}
	return sel, nil
}

// require adds the clauses of a field selector.
func (sel *selection) require(res *resource, parsed fields.Selector) error {
	for _, r := range parsed.Requirements() {
		f, err := fieldOf(res, r.Field)
		if err != nil {
			return err
		}
		f.value, f.equal = r.Value, r.Operator != "!="
		sel.fields = append(sel.fields, f)
	}
	return nil
}

func fieldOf(res *resource, name string) (fieldTest, error) {
	if name == "metadata.name" || name == "metadata.namespace" {
		return fieldTest{path: name}, nil
	}
	for _, f := range res.Fields {
		if f.Name == name {
			return fieldTest{path: f.Path, missing: f.Default}, nil
		}
	}
	if len(res.Fields) == 0 && res.Custom == nil {
		return fieldTest{}, apierrors.NewBadRequest(fmt.Sprintf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, name))
	}
	return fieldTest{}, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", name))
}

// everything is true when the selection is by key alone.
func (sel *selection) everything() bool {
	return (sel.labels == nil || sel.labels.Empty()) && len(sel.fields) == 0
}

// has tells whether an object is in the selection.
func (sel *selection) has(e *cache.Entry) bool {
	if e == nil || !strings.HasPrefix(e.Key, sel.prefix) {
		return false
	}
	for _, f := range sel.fields {
		v := sel.field(e, f.path)
		if v == "" {
			v = f.missing
		}
		if (v == f.value) != f.equal {
			return false
		}
	}
	return sel.labels == nil || sel.labels.Matches(e.Labels())
}

// field is the value under a path, as the selection's kind shows it.
func (sel *selection) field(e *cache.Entry, path string) string {
	if sel.show != nil && !strings.HasPrefix(path, "metadata.") {
		e = sel.show(e)
	}
	return e.Field(path)
}

// name is the one object that a field selector on metadata.name allows, or "".
func (sel *selection) name() string {
	for _, f := range sel.fields {
		if f.path == "metadata.name" && f.equal {
			return f.value
		}
	}
	return ""
}
