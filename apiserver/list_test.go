package apiserver_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/apiserver"
	"github.com/kubesim/kubesim/store/memory"
)

// createConfigMaps makes configmaps a, b, c and so on in a namespace.
func createConfigMaps(t *testing.T, client kubernetes.Interface, namespace string, n int) (last *corev1.ConfigMap) {
	t.Helper()
	for i := range n {
		var err error
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i)), Labels: map[string]string{"odd": fmt.Sprint(i%2 == 1)}}}
		if last, err = client.CoreV1().ConfigMaps(namespace).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

func names(list *corev1.ConfigMapList) string {
	var out []string
	for _, cm := range list.Items {
		out = append(out, cm.Name)
	}
	return strings.Join(out, "")
}

// A list goes on where the last page ended, at the revision of the first page, and
// after a compaction only if the client accepts to see the newest state.
func TestContinue(t *testing.T) {
	keys := memory.New()
	defer keys.Close()
	s, err := apiserver.New(t.Context(), apiserver.Config{Store: keys, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	client := newClient(t, web.URL)
	maps := client.CoreV1().ConfigMaps("default")
	createConfigMaps(t, client, "default", 5)

	first, err := maps.List(t.Context(), metav1.ListOptions{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if names(first) != "ab" || first.RemainingItemCount == nil || *first.RemainingItemCount != 3 {
		t.Fatalf("first page is %q, %v remain", names(first), first.RemainingItemCount)
	}
	if err := maps.Delete(t.Context(), "c", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	second, err := maps.List(t.Context(), metav1.ListOptions{Limit: 2, Continue: first.Continue})
	if err != nil {
		t.Fatal(err)
	}
	if names(second) != "cd" || second.ResourceVersion != first.ResourceVersion || *second.RemainingItemCount != 1 {
		t.Errorf("second page is %q of revision %s, want cd of %s", names(second), second.ResourceVersion, first.ResourceVersion)
	}
	checkExact(t, client, first.ResourceVersion, "abcde")

	now, err := strconv.ParseInt(second.ResourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.Compact(t.Context(), now+1); err != nil { // up to the deletion
		t.Fatal(err)
	}
	_, err = maps.List(t.Context(), metav1.ListOptions{Limit: 2, Continue: first.Continue})
	if !apierrors.IsResourceExpired(err) {
		t.Fatalf("got %v, want 410", err)
	}
	token := err.(apierrors.APIStatus).Status().Continue
	rest, err := maps.List(t.Context(), metav1.ListOptions{Continue: token})
	if err != nil {
		t.Fatal(err)
	}
	if names(rest) != "de" || rest.Continue != "" {
		t.Errorf("the inconsistent rest is %q, want de", names(rest))
	}
	_, err = maps.List(t.Context(), metav1.ListOptions{ResourceVersion: first.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if !apierrors.IsResourceExpired(err) || !strings.Contains(err.Error(), "The resourceVersion for the provided list is too old.") {
		t.Errorf("exact list of a compacted revision: %v", err)
	}
}

// checkExact lists a past revision, by the match and by a limit, which implies it.
func checkExact(t *testing.T, client kubernetes.Interface, revision, want string) {
	t.Helper()
	for _, opts := range []metav1.ListOptions{
		{ResourceVersion: revision, ResourceVersionMatch: metav1.ResourceVersionMatchExact},
		{ResourceVersion: revision, Limit: 100},
	} {
		list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if names(list) != want || list.ResourceVersion != revision {
			t.Errorf("%+v gives %q of revision %s, want %q of %s", opts, names(list), list.ResourceVersion, want, revision)
		}
	}
}

func TestListOptions(t *testing.T) {
	url := startServer(t)
	client := newClient(t, url)
	createConfigMaps(t, client, "default", 3)
	tests := map[string]struct {
		query string
		code  int
		has   string
	}{
		"a limit that is no number": {"limit=x", 400, `strconv.ParseInt: parsing \"x\": invalid syntax`},
		"a selector hides the rest": {"limit=1&labelSelector=odd%3Dfalse", 200, `"continue"`},
		"sendInitialEvents":         {"sendInitialEvents=true", 422, "sendInitialEvents is forbidden for list"},
		"match without revision":    {"resourceVersionMatch=Exact", 422, "resourceVersionMatch is forbidden unless resourceVersion is provided"},
		"two mistakes":              {"resourceVersionMatch=Nope&continue=x", 422, "resourceVersionMatch is forbidden when continue is provided"},
		"watch=false lists":         {"watch=false", 200, `"kind":"ConfigMapList"`},
		"a future revision":         {"resourceVersion=99999", 504, `"reason":"ResourceVersionTooLarge","message":"Too large resource version"`},
		"a future exact revision":   {"resourceVersion=99999&resourceVersionMatch=Exact", 504, `"retryAfterSeconds":1`},
		"a continuation of nothing": {"continue=abc", 400, "continue key is not valid"},
		"watch of a match alone":    {"watch&resourceVersionMatch=NotOlderThan", 422, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, body := read(t, url+"/api/v1/namespaces/default/configmaps?"+test.query)
			if code != test.code || !strings.Contains(body, test.has) {
				t.Errorf("got %d %s\nwant %d with %s", code, body, test.code, test.has)
			}
			if name == "a selector hides the rest" && strings.Contains(body, "remainingItemCount") {
				t.Errorf("a count was given: %s", body)
			}
		})
	}
}

// read gets a URL with headers, given as pairs of key and value.
func read(t *testing.T, url string, headers ...string) (code int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// asTable is what kubectl accepts.
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

func TestWatchForms(t *testing.T) {
	url := startServer(t)
	last := createConfigMaps(t, newClient(t, url), "default", 3)
	watch := url + "/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=1"
	t.Run("a Table has its columns once", func(t *testing.T) {
		_, body := read(t, watch, "Accept", asTable)
		events := strings.Split(strings.TrimSpace(body), "\n")
		if len(events) < 3 {
			t.Fatalf("got %q", events)
		}
		for i, event := range events {
			if strings.Contains(event, `"columnDefinitions":[`) != (i == 0) {
				t.Errorf("event %d: %s", i, event)
			}
		}
	})
	t.Run("an object can't be watched by its path", func(t *testing.T) {
		code, body := read(t, url+"/api/v1/namespaces/default/configmaps/c?watch=true")
		if code != http.StatusOK || !strings.HasPrefix(body, `{"kind":"ConfigMap",`) {
			t.Errorf("got %d %s", code, body)
		}
	})
	t.Run("a legacy path watches one object", func(t *testing.T) {
		_, body := read(t, url+"/api/v1/watch/namespaces/default/configmaps/c?timeoutSeconds=1")
		if strings.Count(body, `"type":"ADDED"`) != 1 || !strings.Contains(body, `"name":"c"`) {
			t.Errorf("got %s", body)
		}
	})
	t.Run("initial events end with a bookmark for those who take bookmarks", func(t *testing.T) {
		initial := watch + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
		_, without := read(t, initial)
		_, with := read(t, initial+"&allowWatchBookmarks=true")
		end := `"annotations":{"k8s.io/initial-events-end":"true"}`
		if strings.Contains(without, "BOOKMARK") || !strings.Contains(with, end) || !strings.Contains(with, `"resourceVersion":"`+last.ResourceVersion) {
			t.Errorf("without bookmarks: %s\nwith: %s", without, with)
		}
		if strings.Count(with, "ADDED") != strings.Count(without, "ADDED") {
			t.Errorf("without bookmarks: %s\nwith: %s", without, with)
		}
	})
}

// Answers are indented for those who read them: by the query, or by hand.
func TestPretty(t *testing.T) {
	url := startServer(t) + "/api/v1/namespaces/default"
	for name, test := range map[string]struct {
		query, agent string
		pretty       bool
	}{
		"a program":         {"", "kubectl/v1.37.2", false},
		"curl":              {"", "curl/8.5.0", true},
		"a browser":         {"", "Mozilla/5.0 (X11)", true},
		"curl, not wanted":  {"?pretty=false", "curl/8.5.0", false},
		"a program, wanted": {"?pretty=true", "x", true},
	} {
		if _, body := read(t, url+test.query, "User-Agent", test.agent); strings.HasPrefix(body, "{\n  \"kind\"") != test.pretty {
			t.Errorf("%s: %.60s", name, body)
		}
	}
}
