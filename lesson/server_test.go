package lesson

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestServer goes through the first steps of a lesson, and meets each refusal.
func TestServer(t *testing.T) {
	s := NewServer()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	ask := func(method, path string, want int, into any) string {
		t.Helper()
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, Path+path, http.NoBody))
		body := w.Body.String()
		if w.Code != want {
			t.Fatalf("%s %s: %d, want %d: %s", method, path, w.Code, want, body)
		}
		if into != nil {
			if err := json.Unmarshal([]byte(body), into); err != nil {
				t.Fatal(err)
			}
		}
		return body
	}
	for language, title := range map[string]string{"en": "Two writers, one object", "zh": "两个写入者"} {
		if got := ask("GET", "?lang="+language, 200, nil); !strings.Contains(got, title) || strings.Contains(got, "please apply your changes") {
			t.Errorf("%s: no %q, or the answers are told before", language, title)
		}
	}
	ask("POST", "/99/start", 404, nil)
	ask("POST", "/5/steps/1/run", 409, nil)
	ask("POST", "/5/end", 409, nil)

	var began struct{ URL string }
	ask("POST", "/5/start", 200, &began)
	if !strings.HasPrefix(began.URL, "http://127.0.0.1:") {
		t.Errorf("the lesson's cluster is at %q", began.URL)
	}
	ask("POST", "/5/steps/0/run", 404, nil)
	ask("POST", "/5/steps/99/run", 404, nil)
	var result Result
	ask("POST", "/5/steps/1/run", 200, &result)
	if !strings.Contains(result.Output, "configmap/counter created") || len(result.Missing) > 0 {
		t.Errorf("%+v", result)
	}
	ask("POST", "/5/steps/1/run", 200, &result) // again: it exists by now
	if len(result.Missing) != 1 {
		t.Errorf("%+v, want what is missing", result)
	}

	ask("POST", "/5/start", 200, nil) // the cluster before is replaced
	result = Result{}
	ask("POST", "/5/steps/1/run", 200, &result)
	if len(result.Missing) > 0 {
		t.Errorf("on a new cluster: %+v", result)
	}
	for _, number := range []string{"1", "2", "4"} {
		ask("POST", "/"+number+"/start", 200, nil)
	}
	ask("POST", "/8/start", 503, nil) // too many
	ask("POST", "/5/end", 200, nil)
	ask("POST", "/5/steps/1/run", 409, nil)
	ask("POST", "/8/start", 200, nil)
}
