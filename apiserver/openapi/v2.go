package openapi

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"github.com/munnerz/goautoneg"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// The names of the protobuf form of a document of version 2. Clients still ask
// for the second, which is no proper media type.
const (
	protobufV2       = "com.github.proto-openapi.spec.v2.v1.0+protobuf"
	protobufV2Legacy = "com.github.proto-openapi.spec.v2@v1.0+protobuf"
)

// swaggerV2 serves one document for all rows.
type swaggerV2 struct {
	json, protobuf cached.Value[[]byte]
}

func newSwaggerV2(m *models, rows []*kinds.Kind) *swaggerV2 {
	s := &swaggerV2{}
	s.json = cached.Once(cached.Func(func() ([]byte, string, error) {
		doc, err := documentV2(m, rows)
		if err != nil {
			return nil, "", err
		}
		body, err := json.Marshal(doc)
		return body, fmt.Sprintf("%X", sha512.Sum512(body)), err
	}))
	s.protobuf = cached.Once(cached.Transform(func(body []byte, etag string, err error) ([]byte, string, error) {
		if err != nil {
			return nil, "", err
		}
		doc, err := openapi_v2.ParseDocument(body)
		if err != nil {
			return nil, "", err
		}
		body, err = proto.Marshal(doc)
		return body, etag, err
	}, s.json))
	return s
}

func (s *swaggerV2) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	form, contentType := s.form(r)
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
func (s *swaggerV2) form(r *http.Request) (cached.Value[[]byte], string) {
	accept := r.Header.Get("Accept")
	if accept == "" {
		accept = mediaAny
	}
	for _, c := range goautoneg.ParseAccept(accept) {
		if c.Type != "*" && c.Type != "application" {
			continue
		}
		switch c.SubType {
		case "*", "json":
			return s.json, mediaJSON
		case protobufV2, protobufV2Legacy:
			return s.protobuf, "application/" + protobufV2
		}
	}
	return nil, ""
}

func documentV2(m *models, rows []*kinds.Kind) (*spec.Swagger, error) {
	c := m.collect(refsV2, 2)
	all, err := c.operations(rows)
	if err != nil {
		return nil, err
	}
	all = append(all, c.discoveryOf("version"))
	doc := &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger: "2.0", Info: info(), Paths: &spec.Paths{Paths: map[string]spec.PathItem{}}, Definitions: spec.Definitions{},
		SecurityDefinitions: spec.SecurityDefinitions{"BearerToken": &spec.SecurityScheme{SecuritySchemeProps: spec.SecuritySchemeProps{
			Type: "apiKey", Name: "authorization", In: "header", Description: "Bearer Token authentication",
		}}},
		Security: []map[string][]string{{"BearerToken": {}}},
	}}
	for _, p := range paths(all) {
		doc.Paths.Paths[p] = spec.PathItem{PathItemProps: spec.PathItemProps{Parameters: parametersV2(pathParameters(p))}}
	}
	for _, o := range all {
		p := doc.Paths.Paths[o.path]
		setV2(&p, o.method, c.operationV2(o))
		doc.Paths.Paths[o.path] = p
	}
	for name, s := range c.schemas {
		withoutDefaults(s)
		doc.Definitions[name] = *s
	}
	return doc, nil
}

// withoutDefaults drops defaults, on which the clients of version 2 stumble.
func withoutDefaults(s *spec.Schema) {
	s.Default = nil
	for key, p := range s.Properties {
		withoutDefaults(&p)
		s.Properties[key] = p
	}
	if s.Items != nil && s.Items.Schema != nil {
		withoutDefaults(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		withoutDefaults(s.AdditionalProperties.Schema)
	}
}

func setV2(p *spec.PathItem, method string, o *spec.Operation) {
	switch method {
	case "get":
		p.Get = o
	case "post":
		p.Post = o
	case "put":
		p.Put = o
	case "patch":
		p.Patch = o
	case "delete":
		p.Delete = o
	}
}

func (c *collection) operationV2(o operation) *spec.Operation {
	answers := map[int]spec.Response{http.StatusUnauthorized: {ResponseProps: spec.ResponseProps{Description: "Unauthorized"}}}
	for _, code := range o.codes {
		s := c.modelOrText(o.response)
		answers[code] = spec.Response{ResponseProps: spec.ResponseProps{Description: http.StatusText(code), Schema: &s}}
	}
	out := &spec.Operation{OperationProps: spec.OperationProps{
		ID: o.id, Description: o.description, Produces: o.answers(), Consumes: []string{mediaAny},
		Responses: &spec.Responses{ResponsesProps: spec.ResponsesProps{StatusCodeResponses: answers}},
	}}
	if o.tag != "" {
		out.Tags = []string{o.tag}
	}
	if o.body != "" {
		s := c.modelOrText(o.body)
		out.Consumes = o.bodies()
		out.Parameters = append(out.Parameters, spec.Parameter{ParamProps: spec.ParamProps{
			Name: "body", In: "body", Required: o.required(), Schema: &s,
		}})
	}
	out.Parameters = append(out.Parameters, parametersV2(o.query)...)
	for key, value := range o.extensions() {
		out.AddExtension(key, value)
	}
	return out
}

func parametersV2(all []parameter) []spec.Parameter {
	var out []spec.Parameter
	for _, p := range all {
		out = append(out, spec.Parameter{
			ParamProps:        spec.ParamProps{Name: p.name, In: p.place(), Description: p.description, Required: p.place() == "path"},
			SimpleSchema:      spec.SimpleSchema{Type: p.kind},
			CommonValidations: spec.CommonValidations{UniqueItems: true},
		})
	}
	return out
}
