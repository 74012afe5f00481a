package openapi

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/munnerz/goautoneg"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/cached"
)

// document is made on the first request and kept as bytes: the trees that it is
// made of are many times its size.
type document struct {
	json, protobuf cached.Value[[]byte]
	// protobufTypes are the subtypes by which clients ask for protobuf, the proper one first.
	protobufTypes []string
}

// newDocument keeps what build returns; parse makes the protobuf form of its JSON. etag
// names the content without making it; where that is "", its hash does.
func newDocument(etag string, build func() (any, error), parse func([]byte) (proto.Message, error), protobufTypes ...string) *document {
	d := &document{protobufTypes: protobufTypes}
	d.json = cached.Once(cached.Func(func() ([]byte, string, error) {
		doc, err := build()
		if err != nil {
			return nil, "", err
		}
		body, err := json.Marshal(doc)
		if etag == "" {
			return body, hash(body), err
		}
		return body, etag, err
	}))
	d.protobuf = cached.Once(cached.Transform(func(body []byte, etag string, err error) ([]byte, string, error) {
		if err != nil {
			return nil, "", err
		}
		doc, err := parse(body)
		if err != nil {
			return nil, "", err
		}
		body, err = proto.Marshal(doc)
		return body, etag, err
	}, d.json))
	return d
}

// hash names the content of a document.
func hash(body []byte) string { return fmt.Sprintf("%X", sha512.Sum512(body)) }

func (d *document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	form, contentType := d.form(r)
	if form == nil {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	body, etag, err := form.Get()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Etag", strconv.Quote(etag))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// form picks the form that the client likes best, nil when it accepts none.
func (d *document) form(r *http.Request) (cached.Value[[]byte], string) {
	accept := r.Header.Get("Accept")
	if accept == "" {
		accept = mediaAny
	}
	for _, c := range goautoneg.ParseAccept(accept) {
		if c.Type != "*" && c.Type != "application" {
			continue
		}
		if c.SubType == "*" || c.SubType == "json" {
			return d.json, mediaJSON
		}
		for _, t := range d.protobufTypes {
			if c.SubType == t {
				return d.protobuf, "application/" + d.protobufTypes[0]
			}
		}
	}
	return nil, ""
}
