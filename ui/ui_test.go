package ui

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/trace"
)

func get(t *testing.T, handler http.Handler, path string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Result()
}

func source(t *testing.T, name string) string {
	t.Helper()
	data, err := fs.ReadFile(page(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func files(t *testing.T) []string {
	t.Helper()
	names, err := fs.Glob(page(), "*")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestServesEachFile(t *testing.T) {
	types := map[string]string{".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
	handler := Handler(func() []trace.Span { return nil })
	paths := map[string]string{Path: "text/html"}
	for _, name := range files(t) {
		if name != "index.html" {
			paths[Path+name] = types[path.Ext(name)]
		}
	}
	for path, want := range paths {
		response := get(t, handler, path)
		if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), want) {
			t.Errorf("%s: %s, %s, want %s", path, response.Status, response.Header.Get("Content-Type"), want)
		}
		if csp := response.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self';") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: Content-Security-Policy %q", path, csp)
		}
	}
	if response := get(t, handler, Path+"none.js"); response.StatusCode != http.StatusNotFound || response.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("unknown file: %s", response.Status)
	}
}

// TestSteps has one step of a component with its cause, and one that changed nothing.
func TestSteps(t *testing.T) {
	const web, set = "deployments.apps/default/web", "replicasets.apps/default/web-1"
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	write := func(id, parent, verb, object string, wrote int64, ms int) trace.Span {
		return trace.Span{
			SpanID: id, ParentID: parent, Component: "apiserver", Verb: verb, Object: object, Wrote: wrote, Code: 200, UserAgent: "curl",
			Start: began.Add(time.Duration(ms-1) * time.Millisecond), End: began.Add(time.Duration(ms) * time.Millisecond),
		}
	}
	spans := []trace.Span{
		write("a", "", "create", web, 10, 1),
		write("b", "d", "create", set, 11, 3),
		{SpanID: "d", Component: "deployment-controller", Object: web, Woke: 10, WokeObject: web, Decision: "create ReplicaSet web-1"},
		write("c", "", "update", set, 11, 9),
	}
	handler := Handler(func() []trace.Span { return spans })
	var got struct{ Steps []step }
	if err := json.NewDecoder(get(t, handler, Path+"steps?object="+web).Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Steps) != 2 {
		t.Fatalf("steps %+v, want 2", got.Steps)
	}
	want := step{
		At: 3, From: 1, Time: began.Add(3 * time.Millisecond), Revision: 11, Who: "deployment-controller", Did: "created", Verb: "create", Object: set,
		Why: "create ReplicaSet web-1", Woke: 10, WokeObject: web,
	}
	if got.Steps[1] != want {
		t.Errorf("got  %+v\nwant %+v", got.Steps[1], want)
	}
	if response := get(t, handler, Path+"steps"); response.StatusCode != http.StatusBadRequest {
		t.Errorf("without an object: %s", response.Status)
	}
}

// TestTexts holds text.js to what the page uses, each in both languages.
func TestTexts(t *testing.T) {
	texts := map[string]bool{}
	value := regexp.MustCompile(`\{\w+\}`)
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): \['(.+)', '(.+)'\],$`).FindAllStringSubmatch(source(t, "text.js"), -1) {
		texts[m[1]] = false
		en, zh := value.FindAllString(m[2], -1), value.FindAllString(m[3], -1)
		for _, v := range en {
			if !strings.Contains(m[3], v) || len(en) != len(zh) {
				t.Errorf("%s: values %v in English, %v in Chinese", m[1], en, zh)
			}
		}
	}
	if entries := regexp.MustCompile(`(?m)^  \w+: \[`).FindAllString(source(t, "text.js"), -1); len(entries) != len(texts) {
		t.Errorf("%d entries, but %d that have two languages and a name of their own", len(entries), len(texts))
	}
	used := regexp.MustCompile(`\bt\('(\w+)'|data-(?:text|label)="(\w+)"`)
	word := regexp.MustCompile(`'(\w+)'`)
	for _, name := range files(t) {
		if name == "text.js" {
			continue
		}
		for _, m := range used.FindAllStringSubmatch(source(t, name), -1) {
			if key := m[1] + m[2]; !known(texts, key) {
				t.Errorf("%s uses %s, which is no text", name, key)
			}
		}
		for _, m := range append(word.FindAllStringSubmatch(source(t, name), -1), used.FindAllStringSubmatch(source(t, name), -1)...) {
			if key := m[len(m)-1] + ""; known(texts, key) {
				texts[key] = true
			}
		}
	}
	for key, used := range texts {
		if !used {
			t.Errorf("%s is not used", key)
		}
	}
}

func known(texts map[string]bool, key string) bool {
	_, ok := texts[key]
	return ok
}

// TestNoMarkupFromStrings backs the Content-Security-Policy.
func TestNoMarkupFromStrings(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://`)
	for _, name := range files(t) {
		text := strings.ReplaceAll(source(t, name), "http://www.w3.org/2000/svg", "")
		if found := forbidden.FindString(text); found != "" {
			t.Errorf("%s has %s", name, found)
		}
	}
}

// TestModules holds imports to files and names that exist.
func TestModules(t *testing.T) {
	imports := regexp.MustCompile(`import (?:\{ ([^}]*) \}|\* as \w+) from '\./([^']+)'`)
	for _, name := range files(t) {
		for _, m := range imports.FindAllStringSubmatch(source(t, name), -1) {
			from := source(t, m[2])
			for _, imported := range strings.Split(m[1], ", ") {
				if imported != "" && !regexp.MustCompile(`export (?:async )?(?:function\*?|const|let|class) `+imported+`\b`).MatchString(from) {
					t.Errorf("%s imports %s, which %s does not export", name, imported, m[2])
				}
			}
		}
	}
}
