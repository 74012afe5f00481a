package openapi

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/kube-openapi/pkg/builder3/util"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// Where references lead in the two versions.
const (
	refsV3 = "#/components/schemas/"
	refsV2 = "#/definitions/"
)

// documentV3 describes the rows served below a path. Without rows it is one of discovery's documents.
func documentV3(m *models, path string, rows []*kinds.Kind) (*spec3.OpenAPI, error) {
	c := m.collect(refsV3, 3)
	all, err := c.operations(rows)
	if err != nil {
		return nil, err
	}
	about := info()
	switch {
	case len(rows) > 0 && rows[0].Unstructured:
		about = &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes CRD Swagger", Version: "v0.1.0"}}
	case len(rows) > 0:
		o := c.discovery("/"+path+"/", metav1.APIResourceList{}.OpenAPIModelName(), "get available resources")
		r := resource{Kind: rows[0]}
		o.id, o.tag = "get"+r.title()+"APIResources", tagOf(r.Group, r.Version)
		all = append(all, o)
	default:
		all = append(all, c.discoveryOf(path))
	}
	doc := &spec3.OpenAPI{
		Version: "3.0.0", Info: about, Paths: &spec3.Paths{Paths: map[string]*spec3.Path{}},
		Components: &spec3.Components{
			Schemas:         map[string]*spec.Schema{},
			SecuritySchemes: spec3.SecuritySchemes{"BearerToken": bearerToken()},
		},
	}
	for _, p := range paths(all) {
		doc.Paths.Paths[p] = &spec3.Path{PathProps: spec3.PathProps{Parameters: parametersV3(pathParameters(p))}}
	}
	for _, o := range all {
		setV3(doc.Paths.Paths[o.path], o.method, c.operationV3(o))
	}
	for name, s := range c.schemas {
		doc.Components.Schemas[name] = util.WrapRefs(s)
	}
	return doc, nil
}

func info() *spec.Info {
	return &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes", Version: "unversioned"}}
}

func bearerToken() *spec3.SecurityScheme {
	return &spec3.SecurityScheme{SecuritySchemeProps: spec3.SecuritySchemeProps{
		Type: "apiKey", Name: "authorization", In: "header", Description: "Bearer Token authentication",
	}}
}

// discoveryOf is the operation of a document of discovery.
func (c *collection) discoveryOf(path string) operation {
	switch path {
	case "version":
		return c.discovery("/version/", version.Info{}.OpenAPIModelName(), "get the version information for this server")
	case "api":
		return c.discovery("/api/", metav1.APIVersions{}.OpenAPIModelName(), "get available API versions")
	case "apis":
		return c.discovery("/apis/", metav1.APIGroupList{}.OpenAPIModelName(), "get available API versions")
	case issuerPath:
		return operation{
			path: "/" + issuerPath + "/", method: "get", id: "getServiceAccountIssuerOpenIDConfiguration", tag: "WellKnown",
			description: "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'", codes: []int{http.StatusOK},
		}
	case keysPath:
		return operation{
			path: "/" + keysPath + "/", method: "get", id: "getServiceAccountIssuerOpenIDKeyset", tag: "openid",
			description: "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)", codes: []int{http.StatusOK},
		}
	}
	return c.discovery("/"+path+"/", metav1.APIGroup{}.OpenAPIModelName(), "get information of a group")
}

func (c *collection) discovery(path, model, description string) operation {
	c.addGenerated(model)
	return operation{path: path, method: "get", description: description, response: model, codes: []int{http.StatusOK}}
}

func setV3(p *spec3.Path, method string, o *spec3.Operation) {
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

func (c *collection) operationV3(o operation) *spec3.Operation {
	out := &spec3.Operation{OperationProps: spec3.OperationProps{
		Description: o.description, OperationId: o.id, Parameters: parametersV3(o.query),
		Responses: &spec3.Responses{ResponsesProps: spec3.ResponsesProps{StatusCodeResponses: map[int]*spec3.Response{
			http.StatusUnauthorized: {ResponseProps: spec3.ResponseProps{Description: "Unauthorized"}},
		}}},
	}}
	if o.tag != "" {
		out.Tags = []string{o.tag}
	}
	for _, code := range o.codes {
		out.Responses.StatusCodeResponses[code] = &spec3.Response{ResponseProps: spec3.ResponseProps{
			Description: http.StatusText(code), Content: c.contentV3(o.answers(), o.response),
		}}
	}
	if o.body != "" {
		out.RequestBody = &spec3.RequestBody{RequestBodyProps: spec3.RequestBodyProps{
			Required: o.required(), Content: c.contentV3(o.bodies(), o.body),
		}}
	}
	for key, value := range o.extensions() {
		out.AddExtension(key, value)
	}
	return out
}

func (c *collection) contentV3(types []string, model string) map[string]*spec3.MediaType {
	out := map[string]*spec3.MediaType{}
	for _, t := range types {
		s := c.modelOrText(model)
		out[t] = &spec3.MediaType{MediaTypeProps: spec3.MediaTypeProps{Schema: &s}}
	}
	return out
}

// modelOrText refers to a schema, or describes plain text.
func (c *collection) modelOrText(model string) spec.Schema {
	if model == "" {
		return *spec.StringProperty()
	}
	return spec.Schema{SchemaProps: spec.SchemaProps{Ref: c.ref(model)}}
}

func parametersV3(all []parameter) []*spec3.Parameter {
	var out []*spec3.Parameter
	for _, p := range all {
		s := spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{p.kind}, UniqueItems: true}}
		out = append(out, &spec3.Parameter{ParameterProps: spec3.ParameterProps{
			Name: p.name, In: p.place(), Description: p.description, Required: p.place() == "path", Schema: &s,
		}})
	}
	return out
}
