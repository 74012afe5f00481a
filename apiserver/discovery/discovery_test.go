package discovery

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

func builtin() []*kinds.Kind {
	var out []*kinds.Kind
	for _, k := range kinds.Builtin() {
		out = append(out, &k)
	}
	return out
}

// fixed is a table that does not change.
func fixed(rows []*kinds.Kind) func() []*kinds.Kind {
	return func() []*kinds.Kind { return rows }
}

// none are the remotes of a server that stands alone.
func none() []Remote { return nil }

func get(h *Handler, path, accept string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Host = "*" // as the recordings mask it
	r.Header.Set("Accept", accept)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	serve := map[int]http.HandlerFunc{1: h.Core, 2: h.Group, 3: h.Resources}[strings.Count(path, "/")]
	switch {
	case path == "/apis":
		serve = h.Groups
	case strings.HasPrefix(path, "/api/"):
		serve = h.Resources
	}
	serve(w, r)
	return w
}

// What a real server answered (testdata/recorded.json, taken from the recorded conversations).
func TestRecordedAnswers(t *testing.T) {
	text, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []struct {
		Path, Accept string
		Body         any
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	h := New(fixed(builtin()), none)
	for _, want := range recorded {
		w := get(h, want.Path, want.Accept)
		var got any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Errorf("%s: %v", want.Path, err)
			continue
		}
		if !reflect.DeepEqual(got, want.Body) {
			g, _ := json.Marshal(got)
			wanted, _ := json.Marshal(want.Body)
			t.Errorf("%s:\n got %s\nwant %s", want.Path, g, wanted)
		}
	}
}

func TestAggregatedETag(t *testing.T) {
	rows := builtin()
	h := New(func() []*kinds.Kind { return rows }, none)
	first := get(h, "/apis", aggregatedType)
	etag := first.Header().Get("ETag")
	if got := first.Header().Get("Content-Type"); got != aggregatedType {
		t.Errorf("Content-Type is %q", got)
	}
	if got := get(h, "/apis", aggregatedType, "If-None-Match", etag).Code; got != http.StatusNotModified {
		t.Errorf("the answer to a known ETag is %d", got)
	}
	rows = append(rows[:len(rows):len(rows)], &kinds.Kind{Group: "x.example.com", Version: "v1", Kind: "X", Resource: "xs", Unstructured: true})
	if got := get(h, "/apis", aggregatedType, "If-None-Match", etag).Code; got != http.StatusOK {
		t.Errorf("the answer after a change of the table is %d", got)
	}
}

// Groups of custom resources stand behind the built-in ones, their versions in order of stability.
func TestCustomResourcesOrder(t *testing.T) {
	rows := builtin()
	for _, version := range []string{"v1alpha1", "v1", "v2beta1"} {
		rows = append(rows, &kinds.Kind{Group: "b.example.com", Version: version, Kind: "X", Resource: "xs", Unstructured: true})
	}
	rows = append(rows, &kinds.Kind{Group: "a.example.com", Version: "v1", Kind: "Y", Resource: "ys", Unstructured: true})
	w := get(New(fixed(rows), none), "/apis", "application/json")
	var list metav1.APIGroupList
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	last := list.Groups[len(list.Groups)-2:]
	if last[0].Name != "a.example.com" || last[1].Name != "b.example.com" {
		t.Fatalf("the last groups are %s and %s", last[0].Name, last[1].Name)
	}
	var versions []string
	for _, v := range last[1].Versions {
		versions = append(versions, v.Version)
	}
	if want := []string{"v1", "v2beta1", "v1alpha1"}; !reflect.DeepEqual(versions, want) {
		t.Errorf("versions are %v, want %v", versions, want)
	}
}

func TestUnknownGroup(t *testing.T) {
	for _, path := range []string{"/apis/none.example.com", "/apis/apps/v9", "/api/v2"} {
		if got := get(New(fixed(builtin()), none), path, "application/json").Code; got != http.StatusNotFound {
			t.Errorf("%s answers %d", path, got)
		}
	}
}

func TestAcceptPreference(t *testing.T) {
	for accept, want := range map[string]string{
		aggregatedType + ",application/json": aggregatedType,
		"application/json," + aggregatedType: "application/json",
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json": "application/json",
		"*/*": "application/json",
		"":    "application/json",
	} {
		if got := get(New(fixed(builtin()), none), "/apis", accept).Header().Get("Content-Type"); got != want {
			t.Errorf("Accept %q is answered with %q, want %q", accept, got, want)
		}
	}
}
