package apiserver_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts anew")

// testdata/apply.txt tells who owns what after which write. A request is a line
//
//	VERB MANAGER PATH BODY
//
// where the verb is apply, force, merge, json, strategic, put, post, get or delete, and
// MANAGER a User-Agent where it ends in a version. An apply need not repeat the kind
// and name that its path says. The answer follows, indented: its code, with the message of
// a refusal; "unchanged" where the revision is as before; warnings; a line an owner.
// "show PATH FIELD" prints a part of an object.
func TestApplyTranscript(t *testing.T) {
	const file = "testdata/apply.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	script := &transcript{t: t, url: startServer(t), revisions: map[string]string{}}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "\t") {
			script.line(line)
		}
	}
	if *rewrite {
		if err := os.WriteFile(file, script.out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, got := strings.Split(string(text), "\n"), strings.Split(script.out.String(), "\n")
	request := ""
	for i, line := range got {
		if !strings.HasPrefix(line, "\t") {
			request = line
		}
		if i >= len(want) || line != want[i] {
			t.Fatalf("after line %d, %s\ngot  %s\nwant %s", i, request, line, want[min(i, len(want)-1)])
		}
	}
	if len(want) > len(got) {
		t.Fatalf("the transcript ends at line %d, want %s", len(got), want[len(got)])
	}
}

type transcript struct {
	t         *testing.T
	url       string
	out       bytes.Buffer
	revisions map[string]string // by path
}

// applied are the kinds of the paths used.
var appliedKinds = map[string][2]string{
	"configmaps": {"v1", "ConfigMap"}, "services": {"v1", "Service"}, "pods": {"v1", "Pod"}, "nodes": {"v1", "Node"},
	"deployments": {"apps/v1", "Deployment"}, "scale": {"autoscaling/v1", "Scale"}, "leases": {"coordination.k8s.io/v1", "Lease"},
	"horizontalpodautoscalers": {"autoscaling/v2", "HorizontalPodAutoscaler"},
}

// line plays one line that is no answer.
func (s *transcript) line(line string) {
	fmt.Fprintln(&s.out, line)
	words := strings.SplitN(line, " ", 4)
	switch {
	case line == "" || words[0] == "#":
		return
	case words[0] == "show":
		s.show(words[1], words[2])
		return
	}
	body := ""
	if len(words) > 3 {
		body = words[3]
	}
	s.request(words[0], words[1], words[2], body)
}

// request asks the server and writes its answer.
func (s *transcript) request(verb, manager, path, body string) {
	code, header, raw := s.send(verb, manager, path, body)
	var answer unstructured.Unstructured
	if err := json.Unmarshal(raw, &answer.Object); err != nil {
		s.t.Fatalf("%s: %v", raw, err)
	}
	fmt.Fprintf(&s.out, "\t%d", code)
	if message, _, _ := unstructured.NestedString(answer.Object, "message"); answer.GetKind() == "Status" && message != "" {
		fmt.Fprint(&s.out, " ", strings.ReplaceAll(message, "\n", " "))
	}
	object, _, _ := strings.Cut(path, "?")
	if v := answer.GetResourceVersion(); v != "" {
		if s.revisions[object] == v {
			fmt.Fprint(&s.out, " unchanged")
		}
		s.revisions[object] = v
	}
	fmt.Fprintln(&s.out)
	for _, text := range header.Values("Warning") {
		fmt.Fprintln(&s.out, "\twarning:", text)
	}
	for _, e := range answer.GetManagedFields() {
		fmt.Fprintln(&s.out, "\t"+owner(s.t, e))
	}
}

// owner prints an entry: who, how, through what, and which fields.
func owner(t *testing.T, e metav1.ManagedFieldsEntry) string {
	t.Helper()
	set := &fieldpath.Set{}
	if err := set.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())); err != nil {
		t.Fatal(err)
	}
	parts := []string{e.Manager, string(e.Operation), e.APIVersion}
	if e.Subresource != "" {
		parts = append(parts, "/"+e.Subresource)
	}
	if e.Time == nil {
		parts = append(parts, "(never)")
	}
	for p := range set.Leaves().All() {
		parts = append(parts, p.String())
	}
	return strings.Join(parts, " ")
}

func (s *transcript) show(path, field string) {
	_, _, raw := s.send("get", "-", path, "")
	var obj map[string]any
	if err := json.Unmarshal(raw, &obj); err != nil {
		s.t.Fatal(err)
	}
	v, _, err := unstructured.NestedFieldNoCopy(obj, strings.Split(field, ".")...)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(&s.out, "\t%s\n", text)
}

// methods and media types of the verbs.
var methods = map[string][2]string{
	"apply": {http.MethodPatch, "application/apply-patch+yaml"}, "force": {http.MethodPatch, "application/apply-patch+yaml"},
	"merge": {http.MethodPatch, "application/merge-patch+json"}, "json": {http.MethodPatch, "application/json-patch+json"},
	"strategic": {http.MethodPatch, "application/strategic-merge-patch+json"}, "put": {http.MethodPut, "application/yaml"},
	"post": {http.MethodPost, "application/yaml"}, "get": {http.MethodGet, ""}, "delete": {http.MethodDelete, ""},
}

func (s *transcript) send(verb, manager, path, body string) (int, http.Header, []byte) {
	url := s.url + s.place(path) + "&"
	if !strings.Contains(path, "?") {
		url = s.url + s.place(path) + "?"
	}
	if !strings.Contains(manager, "/") && manager != "-" {
		url += "fieldManager=" + manager
	}
	if verb == "force" {
		url += "&force=true"
	}
	if verb == "apply" || verb == "force" || verb == "post" || verb == "put" {
		body = complete(s.t, path, body)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), methods[verb][0], url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if verb != "get" && verb != "delete" {
		r.Header.Set("Content-Type", methods[verb][1])
	}
	r.Header.Set("User-Agent", manager)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, res.Header, raw
}

// place is the path of a resource such as deployments/web/scale or, in a version of
// its own, autoscaling/v1/horizontalpodautoscalers/h.
func (s *transcript) place(path string) string {
	parts := strings.Split(path, "/")
	version := ""
	if len(parts) > 2 && strings.HasPrefix(parts[1], "v") {
		version, path, parts = parts[0]+"/"+parts[1], strings.Join(parts[2:], "/"), parts[2:]
	} else {
		resource, _, _ := strings.Cut(parts[0], "?")
		version = appliedKinds[resource][0]
	}
	root := "/apis/" + version
	if version == "v1" {
		root = "/api/v1"
	}
	if parts[0] != "nodes" {
		root += "/namespaces/default"
	}
	return root + "/" + path
}

// complete adds to a body the kind and name that the path says, unless it has its own.
func complete(t *testing.T, path, body string) string {
	t.Helper()
	obj := map[string]any{}
	if yaml.Unmarshal([]byte(body), &obj) != nil {
		return body
	}
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	apiVersion := ""
	if len(parts) > 2 && strings.HasPrefix(parts[1], "v") {
		apiVersion, parts = parts[0]+"/"+parts[1], parts[2:]
	}
	kind := appliedKinds[parts[0]]
	if len(parts) > 2 && parts[2] == "scale" {
		kind = appliedKinds["scale"]
	}
	if apiVersion == "" {
		apiVersion = kind[0]
	}
	for key, v := range map[string]any{"apiVersion": apiVersion, "kind": kind[1], "metadata": map[string]any{}} {
		if _, ok := obj[key]; !ok {
			obj[key] = v
		}
	}
	if m, ok := obj["metadata"].(map[string]any); ok && len(parts) > 1 && m["name"] == nil {
		m["name"] = parts[1]
	}
	if strings.Contains(body, "twice") { // marshalling would lose duplicate keys
		return body
	}
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
