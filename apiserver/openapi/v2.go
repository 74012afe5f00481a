package openapi

import (
	"net/http"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// documentV2 describes all rows.
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
