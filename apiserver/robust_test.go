package apiserver_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// target is a request that takes a body, in the media types that it may say it has.
type target struct {
	method, path string
	media        []string
}

// targets are one of each kind of request with a body. What they speak of exists.
func targets() []target {
	object := []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/plain", ";"}
	patch := []string{"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"}
	const core, apps = "/api/v1/namespaces/default", "/apis/apps/v1/namespaces/default"
	return []target{
		{http.MethodPost, core + "/pods", object},
		{http.MethodPost, core + "/configmaps?dryRun=All&fieldValidation=Strict", object},
		{http.MethodPost, core + "/pods/p/binding", object},
		{http.MethodPost, core + "/pods/p/eviction", object},
		{http.MethodPost, core + "/serviceaccounts/default/token", object},
		{http.MethodPost, apps + "/deployments", object},
		{http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", object},
		{http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", object},
		{http.MethodPut, "/api/v1/namespaces/default", object},
		{http.MethodPut, "/api/v1/namespaces/default/finalize", object},
		{http.MethodPut, core + "/pods/p/status", object},
		{http.MethodPut, apps + "/deployments/d/scale", object},
		{http.MethodPatch, "/api/v1/namespaces/kube-public", patch},
		{http.MethodPatch, core + "/pods/p/status", patch},
		{http.MethodPatch, apps + "/deployments/d/scale", patch},
		{http.MethodDelete, core + "/pods/p", object[:3]},
		{http.MethodDelete, core + "/pods", object[:3]},
	}
}

// Whatever stands in a body, the answer is a refusal and the server goes on.
func TestGarbage(t *testing.T) {
	url := startServer(t)
	client := newClient(t, url)
	template := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: template}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"app": "d"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: template},
	}}
	if _, err := client.AppsV1().Deployments("default").Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 64<<10)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	bodies := map[string][]byte{
		"noise":       noise,
		"zeros":       make([]byte, 64<<10),
		"deep json":   bytes.Repeat([]byte("["), 64<<10),
		"deep object": bytes.Repeat([]byte(`{"metadata":`), 5000),
		"deep yaml":   []byte(strings.Repeat("{a: ", 20000)),
		"bomb":        []byte("a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n"),
		"protobuf":    append([]byte("k8s\x00"), noise...),
		"long":        bytes.Repeat([]byte("x"), 3<<20+1),
		"large": slices.Concat([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default","annotations":{"k":"`),
			bytes.Repeat([]byte("x"), 3<<20-200), []byte(`"}}}`)),
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			for _, to := range targets() {
				for _, media := range to.media {
					if name == "large" && (to.method == http.MethodDelete || media == ";") {
						continue // fields that no options have are no error there
					}
					refused(t, to.method, url+to.path, http.Header{"Content-Type": {media}}, body)
				}
			}
		})
	}
	if _, err := client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{}); err != nil {
		t.Errorf("after all this: %v", err)
	}
}

// refused sends a request to which only a Status that blames the client is an
// answer or, for a group version that nobody serves, a plain 404.
func refused(t *testing.T, method, url string, header http.Header, body []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	what := fmt.Sprintf("%s %.80s %.80v", method, url, header)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	unserved := resp.StatusCode == http.StatusNotFound && string(answer) == "404 page not found\n"
	if resp.StatusCode < 400 || resp.StatusCode >= 500 || !bytes.Contains(answer, []byte(`"kind":"Status"`)) && !unserved {
		t.Errorf("%s: %d %.200s", what, resp.StatusCode, answer)
	}
}

// Nor does it matter what stands in paths, queries and headers.
func TestGarbageAround(t *testing.T) {
	url := startServer(t)
	long := strings.Repeat("x", 64<<10)
	for _, path := range []string{
		"/" + long, "/apis/" + long + "/v1/things", "/api/v1/namespaces/" + long, "/api/v1/namespaces/%00/pods/%ff", "/api/v1/namespaces/default/pods/%2e%2e%2f",
		"/api/v1//pods//", "/apis/apps/v1/namespaces/default/deployments/d/" + long,
		"/api/v1/pods?limit=1&continue=" + long, "/api/v1/pods?fieldSelector=" + long, "/api/v1/pods?labelSelector=((" + long,
		"/api/v1/pods?resourceVersion=" + long, "/api/v1/pods?resourceVersion=-1", "/api/v1/pods?watch=true&resourceVersionMatch=" + long,
	} {
		refused(t, http.MethodGet, url+path, nil, nil)
	}
	for _, accept := range []string{"application/" + long, "application/json;as=Table;g=" + long + ",text/html", ";;;", "image/*"} {
		refused(t, http.MethodGet, url+"/api/v1/pods", http.Header{"Accept": {accept}}, nil)
	}
	refused(t, "BREW", url+"/api/v1/pods", nil, nil)
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
