package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/store"
)

// errNoResource answers a path that is not served.
var errNoResource = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
	Details: &metav1.StatusDetails{}, Message: "the server could not find the requested resource",
}}

// statusError is an error with a code and a reason of its own.
func statusError(code int, reason metav1.StatusReason, details *metav1.StatusDetails, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Details: details, Message: fmt.Sprintf(format, args...),
	}}
}

// storeError turns an error of the store into the one that clients know.
func storeError(err error, gr schema.GroupResource, name string) error {
	var conflict *store.ConflictError
	var compacted *store.CompactedError
	var future *store.FutureRevisionError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrExists):
		return apierrors.NewAlreadyExists(gr, name)
	case errors.Is(err, store.ErrNotFound):
		return apierrors.NewNotFound(gr, name)
	case errors.As(err, &conflict):
		return apierrors.NewConflict(gr, name, errModified)
	case errors.As(err, &compacted):
		return apierrors.NewResourceExpired(fmt.Sprintf("The provided resource version is too old (oldest: %d)", compacted.Oldest))
	case errors.As(err, &future):
		return tooLargeVersion(future.Current+1, future.Current)
	case errors.Is(err, store.ErrTooLarge):
		return statusError(http.StatusInternalServerError, "", nil, "etcdserver: request is too large") // etcd's own words, and no reason
	case errors.Is(err, context.Canceled):
		return statusError(499, "", nil, "the request was canceled by the client")
	case errors.Is(err, context.DeadlineExceeded):
		return apierrors.NewTimeoutError("the request did not complete in time", 0)
	}
	return err
}

// errModified is why a stale write is refused.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// tooLargeVersion answers a read of a revision that has not happened.
func tooLargeVersion(wanted, current int64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", wanted, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}

// statusOf makes a Status of any error.
func statusOf(err error) *metav1.Status {
	var known apierrors.APIStatus
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	if errors.As(err, &known) {
		status = known.Status()
	}
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &status
}

// writeError renders an error. Every answer that is a failure comes from here.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, f form, err error) {
	status := statusOf(err)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	f.as = ""
	body, encodeErr := s.codec.encode(f, status)
	if encodeErr != nil {
		http.Error(w, encodeErr.Error(), http.StatusInternalServerError)
		return
	}
	write(w, int(status.Code), f, body)
}

// write sends an encoded answer, in parts.
func write(w http.ResponseWriter, code int, f form, parts ...[]byte) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	writeHeader(w, code, f, size)
	if size > bufferedByHTTP {
		connection := http.NewResponseController(w)
		_ = connection.SetWriteDeadline(time.Now().Add(answerTimeout)) // in memory there are no deadlines
		defer func() { _ = connection.SetWriteDeadline(time.Time{}) }()
	}
	for _, part := range parts {
		_, _ = w.Write(part) // the client is gone if it fails
	}
}

func writeHeader(w http.ResponseWriter, code int, f form, size int) {
	h := w.Header()
	h.Set("Content-Type", f.contentType())
	h.Set("Cache-Control", "no-cache, private")
	h.Set("Content-Length", strconv.Itoa(size))
	w.WriteHeader(code)
}
