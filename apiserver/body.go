package apiserver

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/apiserver/yaml"
)

// maxBody is the longest request body, as in kube-apiserver.
const maxBody = 3 << 20

const (
	// bodyTimeout is how long a client may take to send a body: it occupies one of
	// the places for requests in flight.
	bodyTimeout = time.Minute
	// bodyAtOnce bounds what is set aside for a body before it has come.
	bodyAtOnce = 64 << 10
)

// readBody reads the request's body up to maxBody.
func (q *request) readBody() ([]byte, error) {
	if q.r.Body == nil || q.r.Body == http.NoBody {
		return nil, nil
	}
	// Only a real connection has deadlines; others end with their context.
	connection := http.NewResponseController(q.w)
	_ = connection.SetReadDeadline(time.Now().Add(bodyTimeout))
	defer func() { _ = connection.SetReadDeadline(time.Time{}) }()
	var body bytes.Buffer
	if n := q.r.ContentLength; n > 0 {
		body.Grow(int(min(n, bodyAtOnce)) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(io.LimitReader(q.r.Body, maxBody+1)); err != nil {
		return nil, apierrors.NewBadRequest("reading the body: " + err.Error())
	}
	if body.Len() > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	return body.Bytes(), nil
}

// decodeBody reads an object of a kind from the request's body. What strict
// decoding finds is an error, a warning or nothing, by ?fieldValidation.
func (s *Server) decodeBody(q *request, want schema.GroupVersionKind) (runtime.Object, error) {
	body, err := q.readBody()
	if err != nil {
		return nil, err
	}
	media, err := mediaOf(q.r)
	if err != nil {
		return nil, err
	}
	switch media {
	case mediaJSON:
		return s.decodeJSON(q, body, nil, want)
	case mediaYAML:
		converted, duplicates, err := yaml.ToJSON(body)
		if err != nil {
			return nil, decodeError(nil, want, body, err)
		}
		return s.decodeJSON(q, converted, duplicates, want)
	case mediaProtobuf:
		into := s.codec.new(want)
		obj, gvk, err := s.codec.proto.Decode(body, &want, into)
		if err != nil {
			return nil, decodeError(gvk, want, body, err)
		}
		return checkKind(obj, gvk, want)
	}
	return nil, statusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, nil,
		"the body of the request was in an unknown format - accepted media types include: %s, %s, %s", mediaJSON, mediaYAML, mediaProtobuf)
}

// decodeJSON decodes a body; duplicates are what its way from YAML has met.
func (s *Server) decodeJSON(q *request, body []byte, duplicates []string, want schema.GroupVersionKind) (runtime.Object, error) {
	validation := q.query.Get("fieldValidation")
	obj, gvk, err := s.codec.request(q.res, body, want, validation != metav1.FieldValidationIgnore)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if err != nil && !isStrict {
		return nil, decodeError(gvk, want, body, err)
	}
	var found []error
	if isStrict {
		found = strict.Errors()
	}
	switch {
	case validation == metav1.FieldValidationIgnore || len(found)+len(duplicates) == 0:
	case validation == metav1.FieldValidationStrict:
		if len(duplicates) > 0 {
			found = append([]error{errors.New("yaml: unmarshal errors:\n  " + strings.Join(duplicates, "\n  "))}, found...)
		}
		return nil, decodeError(gvk, want, body, runtime.NewStrictDecodingError(found))
	default:
		q.warn(duplicates)
		for _, err := range found {
			warn(q.w, err.Error())
		}
	}
	return checkKind(obj, gvk, want)
}

// checkKind refuses a body of another kind or version than the path's.
func checkKind(obj runtime.Object, gvk *schema.GroupVersionKind, want schema.GroupVersionKind) (runtime.Object, error) {
	if gvk == nil || *gvk == want {
		return obj, nil
	}
	if gvk.GroupVersion() != want.GroupVersion() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", gvk.GroupVersion(), want.GroupVersion()))
	}
	return nil, decodeError(gvk, want, nil, unknownConversion(*gvk, want))
}

// unknownConversion is why an object of one kind can't be taken for another.
func unknownConversion(from, to schema.GroupVersionKind) error {
	group := to.Group
	if group == "" {
		group = "core"
	}
	return fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", from.Version, from.Kind, group, to.Kind)
}

// decodeError words why a body can't be used.
func decodeError(gvk *schema.GroupVersionKind, want schema.GroupVersionKind, body []byte, err error) error {
	if gvk != nil && gvk.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, want.Kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summary(body)))
}

// summary shows the beginning of a body that can't be read.
func summary(body []byte) string {
	const most = 30
	show := func(b []byte) string { return hex.EncodeToString(b) }
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{':
		show = func(b []byte) string { return string(b) }
	}
	if len(body) > most {
		return show(body[:most]) + " ..."
	}
	return show(body)
}

// warn adds a Warning header.
func warn(w http.ResponseWriter, text string) {
	w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
}
