package apiserver_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Whatever stands in a body, the answer is a refusal and the server goes on.
func TestGarbage(t *testing.T) {
	url := startServer(t)
	noise := make([]byte, 64<<10)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	bodies := map[string][]byte{
		"noise": noise, "deep json": bytes.Repeat([]byte("["), 64<<10), "deep yaml": []byte(strings.Repeat("{a: ", 20000)),
		"bomb":     []byte("a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n"),
		"protobuf": append([]byte("k8s\x00"), noise...), "long": bytes.Repeat([]byte("x"), 3<<20+1),
	}
	types := []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/plain"}
	patches := []string{"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"}
	send := func(method, path, media string, body []byte) {
		r, err := http.NewRequest(method, url+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", media)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s as %s: %v", method, media, err)
			return
		}
		defer resp.Body.Close()
		answer, _ := io.ReadAll(resp.Body)
		if resp.StatusCode < 400 || resp.StatusCode >= 500 || !bytes.Contains(answer, []byte(`"kind":"Status"`)) {
			t.Errorf("%s as %s: %d %.200s", method, media, resp.StatusCode, answer)
		}
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			for _, media := range types {
				send(http.MethodPost, "/api/v1/namespaces/default/pods", media, body)
				send(http.MethodPut, "/api/v1/namespaces/default", media, body)
			}
			for _, media := range patches {
				send(http.MethodPatch, "/api/v1/namespaces/kube-public", media, body)
			}
		})
	}
	if _, err := newClient(t, url).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("after all this: %v", err)
	}
}

// A page of another site can't use the server through a browser.
func TestForeignOrigin(t *testing.T) {
	url := startServer(t)
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"", "", http.StatusOK},
		{"localhost:8080", "", http.StatusOK},
		{"[::1]:8080", "http://127.0.0.1:8080", http.StatusOK},
		{"evil.example", "", http.StatusForbidden},
		{"127.0.0.1.evil.example", "", http.StatusForbidden},
		{"", "https://evil.example", http.StatusForbidden},
		{"", "null", http.StatusForbidden},
	} {
		r, err := http.NewRequest(http.MethodGet, url+"/api/v1/namespaces", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.host != "" {
			r.Host = c.host
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("Host %q, Origin %q: %d, want %d", c.host, c.origin, resp.StatusCode, c.want)
		}
	}
}

// Clients that open a watch and never read hold up neither writers nor the
// watchers that do read.
func TestDeafWatchers(t *testing.T) {
	url := startServer(t)
	client := newClient(t, url)
	for range 20 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /api/v1/namespaces/default/configmaps?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	const n = 200
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	payload := strings.Repeat("x", 100<<10)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range n {
			_, err := client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}, Data: map[string]string{"k": payload},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	seen := 0
	for range w.ResultChan() {
		if seen++; seen == n {
			break
		}
	}
	wg.Wait()
	if seen != n {
		t.Errorf("the reading watcher saw %d of %d events", seen, n)
	}
}
