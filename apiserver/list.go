package apiserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/store"
)

// page is a part of a list, all of one revision.
type page struct {
	entries   []*cache.Entry
	revision  int64
	next      string // key behind which the rest begins, "" at the end
	remaining int64  // how many objects are left, selected or not
}

// continueToken is where a paged list goes on; clients take it as opaque.
type continueToken struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start"` // key below the resource's prefix
}

func (s *Server) list(ctx context.Context, q *request) error {
	sel, err := s.selectionOf(q)
	if err != nil {
		return err
	}
	p, err := s.page(ctx, q, sel)
	if err != nil {
		return err
	}
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatInt(p.revision, 10)}
	if p.next != "" {
		meta.Continue = encodeToken(p.revision, strings.TrimPrefix(p.next, q.res.prefix))
		if sel.everything() {
			meta.RemainingItemCount = &p.remaining
		}
	}
	return s.writeList(ctx, q, meta, p.entries)
}

// page reads the part of the list that the query asks for.
func (s *Server) page(ctx context.Context, q *request, sel *selection) (page, error) {
	opts, err := q.listOptions()
	if err != nil {
		return page{}, err
	}
	limit, version := int(opts.Limit), opts.ResourceVersion
	if opts.Continue != "" {
		if version != "" && version != "0" {
			return page{}, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		t, err := decodeToken(opts.Continue)
		if err != nil {
			return page{}, apierrors.NewBadRequest(err.Error())
		}
		return s.continued(ctx, q, sel, t, limit)
	}
	if wantsExactly(opts) {
		revision, err := parseRevision(version)
		if err != nil {
			return page{}, apierrors.NewBadRequest(err.Error())
		}
		return s.past(ctx, q, sel, revision, "", limit)
	}
	if err := s.fresh(ctx, version); err != nil {
		return page{}, err
	}
	if version == "0" {
		limit = 0 // the cache answers whole
	}
	return s.current(q, sel, "", limit), nil
}

// wantsExactly is true for a list of one revision. Before there was a match to
// ask for it, a limit did.
func wantsExactly(o *metav1.ListOptions) bool {
	if o.ResourceVersionMatch == "" {
		return o.Limit > 0 && o.ResourceVersion != "" && o.ResourceVersion != "0"
	}
	return o.ResourceVersionMatch == metav1.ResourceVersionMatchExact
}

// current reads the cache as it is.
func (s *Server) current(q *request, sel *selection, after string, limit int) page {
	revision := s.cache.Revision()
	snapshot := s.cache.Resource(q.res.prefix).Snapshot()
	p := page{revision: max(revision, snapshot.Revision), entries: []*cache.Entry{}}
	if name := sel.name(); name != "" && q.namespace != "" {
		if e := s.cache.Resource(q.res.prefix).Get(q.res.key(q.namespace, name)); sel.has(e) {
			p.entries = append(p.entries, e)
		}
		return p
	}
	snapshot.Each(sel.prefix, after, func(e *cache.Entry) bool {
		if limit > 0 && len(p.entries) == limit {
			if p.next == "" {
				p.next = p.entries[limit-1].Key
			}
			p.remaining++
			return sel.everything() // to count
		}
		if sel.has(e) {
			p.entries = append(p.entries, e)
		}
		return true
	})
	return p
}

// past reads the store at a revision, or the cache while nothing has changed since.
func (s *Server) past(ctx context.Context, q *request, sel *selection, revision int64, after string, limit int) (page, error) {
	if err := s.fresh(ctx, strconv.FormatInt(revision, 10)); err != nil {
		return page{}, err
	}
	if now := s.cache.Resource(q.res.prefix).Snapshot().Revision; now <= revision && s.cache.Resource(q.res.prefix).Oldest() <= revision {
		p := s.current(q, sel, after, limit)
		if p.revision == revision || s.cache.Resource(q.res.prefix).Snapshot().Revision == now {
			p.revision = revision
			return p, nil
		}
	}
	return s.stored(ctx, q, sel, revision, after, limit)
}

// stored reads a past revision from the store.
func (s *Server) stored(ctx context.Context, q *request, sel *selection, revision int64, after string, limit int) (page, error) {
	p := page{revision: revision, entries: []*cache.Entry{}}
	opts := store.ListOptions{Revision: revision, After: after, Limit: limit}
	for {
		result, err := s.store.List(ctx, sel.prefix, opts)
		if errors.Is(err, store.ErrCompacted) {
			return p, apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
		}
		if err != nil {
			return p, storeError(err, q.subject(), "")
		}
		for i, kv := range result.Items {
			opts.After = kv.Key
			if e := cache.NewEntry(kv); sel.has(e) {
				p.entries = append(p.entries, e)
			}
			if left := int64(len(result.Items)-i-1) + result.Remaining; limit > 0 && len(p.entries) == limit && left > 0 {
				p.next, p.remaining = kv.Key, left
				return p, nil
			}
		}
		if result.Remaining == 0 || len(result.Items) == 0 {
			return p, nil
		}
	}
}

// continued reads on at the revision of the first page. When that is gone, the
// error carries a token that reads on at the newest revision.
func (s *Server) continued(ctx context.Context, q *request, sel *selection, t continueToken, limit int) (page, error) {
	after := q.res.prefix + t.Start
	if t.Revision < 0 { // an inconsistent continuation
		if err := s.cache.Sync(ctx); err != nil {
			return page{}, err
		}
		return s.current(q, sel, after, limit), nil
	}
	p, err := s.past(ctx, q, sel, t.Revision, after, limit)
	if apierrors.IsResourceExpired(err) {
		expired := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
			"You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
			"Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
		expired.ErrStatus.Continue = encodeToken(-1, t.Start)
		return p, expired
	}
	return p, err
}

func encodeToken(revision int64, start string) string {
	b, _ := json.Marshal(continueToken{Version: "meta.k8s.io/v1", Revision: revision, Start: start}) // can't fail
	return base64.RawURLEncoding.EncodeToString(b)
}

func decodeToken(token string) (continueToken, error) {
	var t continueToken
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return t, fmt.Errorf("continue key is not valid: %w", err)
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("continue key is not valid: %w", err)
	}
	switch {
	case t.Version != "meta.k8s.io/v1":
		return t, fmt.Errorf("continue key is not valid: server does not recognize this encoded version %q", t.Version)
	case t.Start == "" || strings.Contains(t.Start, ".."):
		return t, fmt.Errorf("continue key is not valid: encoded start key missing meta.k8s.io/v1")
	case t.Revision == 0:
		return t, fmt.Errorf("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
	}
	return t, nil
}
