package openapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

func builtin() []*kinds.Kind {
	var rows []*kinds.Kind
	for _, k := range kinds.Builtin() {
		rows = append(rows, &k)
	}
	return rows
}

// noRemotes are the documents of other servers where there are none.
func noRemotes() map[string]string { return nil }

// shared serves the built-in kinds; its documents are made once for all tests.
var shared = sync.OnceValue(func() *Handler { return New(fixed(builtin()), kinds.Scheme(), noRemotes) })

func fixed(rows []*kinds.Kind) func() []*kinds.Kind { return func() []*kinds.Kind { return rows } }

func get(t *testing.T, serve http.HandlerFunc, path, accept string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	serve(w, r)
	return w
}

func decode[T any](t *testing.T, w *httptest.ResponseRecorder) *T {
	t.Helper()
	if w.Code != http.StatusOK {
		t.Fatalf("the answer is %d: %s", w.Code, w.Body)
	}
	out := new(T)
	if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Every document of the index is served under its URL, and all its references lead somewhere.
func TestDocumentsAreWhole(t *testing.T) {
	h := shared()
	index := decode[handler3.OpenAPIV3Discovery](t, get(t, h.V3, "/openapi/v3", "application/json"))
	for path, entry := range index.Paths {
		w := get(t, h.V3, entry.ServerRelativeURL, "application/json")
		if !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s may not be kept", path)
		}
		doc := decode[spec3.OpenAPI](t, w)
		for _, ref := range references(w.Body.String()) {
			if doc.Components.Schemas[strings.TrimPrefix(ref, refsV3)] == nil {
				t.Errorf("%s refers to %s, which it has not", path, ref)
			}
		}
	}
}

// references are all that a document refers to.
func references(doc string) []string {
	var out []string
	for _, part := range strings.Split(doc, `"$ref":"`)[1:] {
		ref, _, _ := strings.Cut(part, `"`)
		out = append(out, ref)
	}
	return out
}

// Every row is found in its document by its path, and by its kind.
func TestRowsAreDescribed(t *testing.T) {
	h, rows := shared(), builtin()
	docs := map[string]*spec3.OpenAPI{}
	for path := range byPath(rows) {
		docs[path] = decode[spec3.OpenAPI](t, get(t, h.V3, prefixV3+"/"+path, "application/json"))
	}
	for path, described := range byPath(rows) {
		for _, k := range described {
			r := resource{Kind: k}
			item := docs[path].Paths.Paths[r.collection()]
			if item == nil {
				t.Errorf("%s has no path", r.collection())
				continue
			}
			for _, o := range []*spec3.Operation{item.Get, item.Post} {
				if o == nil {
					continue
				}
				if kind := o.Extensions[extensionKind].(map[string]any)["kind"]; kind != k.Kind {
					t.Errorf("%s is said to be of kind %v", r.collection(), kind)
				}
			}
		}
	}
}

func TestSchemasOfPods(t *testing.T) {
	h := shared()
	doc := decode[spec3.OpenAPI](t, get(t, h.V3, "/openapi/v3/api/v1", "application/json"))
	field := func(model, name string) spec.Schema {
		return doc.Components.Schemas["io.k8s.api.core.v1."+model].Properties[name]
	}
	for _, c := range []struct {
		model, field, extension string
		want                    any
	}{
		{"PodSpec", "containers", extensionPatchMergeKey, "name"},
		{"PodSpec", "containers", extensionPatchStrategy, "merge"},
		{"PodSpec", "containers", extensionListType, "map"},
		{"PodSpec", "nodeSelector", extensionMapType, "atomic"},
		{"Container", "command", extensionListType, "atomic"},
	} {
		if got := field(c.model, c.field).Extensions[c.extension]; got != c.want {
			t.Errorf("%s of %s.%s is %v, want %v", c.extension, c.model, c.field, got, c.want)
		}
	}
	if got := field("ContainerPort", "protocol").Default; got != "TCP" {
		t.Errorf("the default protocol is %v", got)
	}
	if got := doc.Components.Schemas["io.k8s.api.core.v1.Container"].Required; len(got) != 1 || got[0] != "name" {
		t.Errorf("a container requires %v", got)
	}
	parameters := map[string]bool{}
	for _, p := range doc.Paths.Paths["/api/v1/namespaces/{namespace}/pods/{name}"].Patch.Parameters {
		parameters[p.Name] = true
	}
	for _, name := range []string{"dryRun", "fieldManager", "fieldValidation", "force"} {
		if !parameters[name] {
			t.Errorf("patch has no parameter %s", name)
		}
	}
}

// kubectl and client-go read the protobuf form.
func TestProtobuf(t *testing.T) {
	h := shared()
	w := get(t, h.V3, "/openapi/v3/apis/apps/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf")
	if err := proto.Unmarshal(w.Body.Bytes(), &openapi_v3.Document{}); err != nil || w.Body.Len() == 0 {
		t.Errorf("version 3, %d bytes: %v", w.Body.Len(), err)
	}
	w = get(t, h.V2, "/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
	doc := &openapi_v2.Document{}
	if err := proto.Unmarshal(w.Body.Bytes(), doc); err != nil || len(doc.GetDefinitions().GetAdditionalProperties()) == 0 {
		t.Errorf("version 2, %d bytes: %v", w.Body.Len(), err)
	}
}

func TestSwaggerIsWhole(t *testing.T) {
	h := shared()
	w := get(t, h.V2, "/openapi/v2", "application/json")
	doc := decode[spec.Swagger](t, w)
	for _, ref := range references(w.Body.String()) {
		if _, ok := doc.Definitions[strings.TrimPrefix(ref, refsV2)]; !ok {
			t.Errorf("reference to %s, which is not there", ref)
		}
	}
	for _, k := range builtin() {
		if r := (resource{Kind: k}); doc.Paths.Paths[r.collection()].PathItemProps.Get == nil && doc.Paths.Paths[r.collection()].Post == nil {
			t.Errorf("%s has no path", r.collection())
		}
	}
}

// onlySpec is a custom resource that has but a spec.
type onlySpec struct{ kinds.Custom }

func (onlySpec) Fingerprint() string { return "only a spec" }

func (onlySpec) OpenAPI(int) (*spec.Schema, error) {
	s := (&spec.Schema{}).Typed("object", "")
	return s.SetProperty("spec", *spec.MapProperty(spec.StringProperty()).WithDescription("what is wanted")), nil
}

// A row added at run time gets a document of its own; one removed loses it.
func TestCustomResource(t *testing.T) {
	base := builtin()[:1]
	rows := base
	h := New(func() []*kinds.Kind { return rows }, kinds.Scheme(), noRemotes)
	before := get(t, h.V3, "/openapi/v3", "*/*").Body.String()
	rows = append(rows[:len(rows):len(rows)], &kinds.Kind{
		Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets", Namespaced: true, Unstructured: true,
		Custom: onlySpec{},
	})
	doc := decode[spec3.OpenAPI](t, get(t, h.V3, "/openapi/v3/apis/example.com/v1", "application/json"))
	s := doc.Components.Schemas["com.example.v1.Widget"]
	if s == nil || s.Properties["spec"].Description != "what is wanted" || len(s.Properties) != 4 {
		t.Errorf("the schema is %+v", s)
	}
	rows = base
	if got := get(t, h.V3, "/openapi/v3/apis/example.com/v1", "application/json").Code; got != http.StatusNotFound {
		t.Errorf("the document of a removed resource is answered with %d", got)
	}
	if after := get(t, h.V3, "/openapi/v3", "*/*").Body.String(); after != before {
		t.Error("the hashes of other documents have changed")
	}
}
