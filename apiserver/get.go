package apiserver

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/store"
)

// futureWait is how long a read waits for a revision that has not happened yet.
const futureWait = 3 * time.Second

func (s *Server) get(ctx context.Context, q *request) error {
	if err := s.fresh(ctx, q.query.Get("resourceVersion")); err != nil {
		return err
	}
	e, err := s.lookup(q)
	if err != nil {
		return err
	}
	return s.writeEntry(q, http.StatusOK, e)
}

// lookup finds the request's object in the cache as it is.
func (s *Server) lookup(q *request) (*cache.Entry, error) {
	e := s.cache.Resource(q.res.prefix).Get(q.res.key(q.namespace, q.name))
	if e == nil {
		return nil, storeError(store.ErrNotFound, q.subject(), q.name)
	}
	return e, nil
}

// fresh waits until the cache is as new as the client's resourceVersion asks:
// "" the newest there is, "0" anything, else that revision.
func (s *Server) fresh(ctx context.Context, resourceVersion string) error {
	switch resourceVersion {
	case "":
		return s.cache.Sync(ctx)
	case "0":
		return nil
	}
	revision, err := parseRevision(resourceVersion)
	if err != nil {
		return apierrors.NewBadRequest("invalid resource version: " + err.Error())
	}
	if s.cache.Revision() >= revision {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, futureWait)
	defer cancel()
	err = s.cache.Wait(ctx, revision)
	if errors.Is(err, context.DeadlineExceeded) {
		return tooLargeVersion(revision, s.cache.Revision())
	}
	return err
}

func parseRevision(v string) (int64, error) {
	if v == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(v, 10, 63)
	if err != nil {
		return 0, field.Invalid(field.NewPath("resourceVersion"), v, err.Error())
	}
	return int64(n), nil
}
