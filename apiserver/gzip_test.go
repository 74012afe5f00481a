package apiserver_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Long answers are compressed for those who take gzip; short ones, and watches, never.
func TestCompression(t *testing.T) {
	url := startServer(t)
	maps := newClient(t, url).CoreV1().ConfigMaps("default")
	for i := range 3 {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("m", i)}, Data: map[string]string{"k": strings.Repeat("x", 60<<10)}}
		if _, err := maps.Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		path, accepts string
		compressed    bool
	}{
		"a long list":             {"?limit=500", "deflate, gzip;q=1.0", true},
		"a long list, plain":      {"?limit=500", "", false},
		"a long list as a Table":  {"?limit=500&includeObject=Object", "gzip", true},
		"a short object":          {"/m1", "gzip", false},
		"a watch of all the same": {"?watch=1&timeoutSeconds=1", "gzip", false},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v1/namespaces/default/configmaps"+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", test.accepts) // by hand, so that the client doesn't undo it
			if strings.Contains(test.path, "includeObject") {
				r.Header.Set("Accept", asTable)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if got := resp.Header.Get("Content-Encoding") == "gzip"; got != test.compressed {
				t.Fatalf("compressed: %t, want %t", got, test.compressed)
			}
			if test.compressed {
				checkGzip(t, resp)
			}
		})
	}
}

func checkGzip(t *testing.T, resp *http.Response) {
	t.Helper()
	if resp.Header.Get("Vary") != "Accept-Encoding" || resp.ContentLength >= compressedAtMost {
		t.Errorf("Vary is %q, length %d", resp.Header.Get("Vary"), resp.ContentLength)
	}
	z, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) || strings.Count(string(text), "xxxxx") == 0 {
		t.Errorf("%d bytes of something else", len(text))
	}
}

const compressedAtMost = 64 << 10

// What is too large for etcd, and what is too large to be read at all.
func TestTooLarge(t *testing.T) {
	maps := newClient(t, startServer(t)).CoreV1().ConfigMaps("default")
	create := func(size int) error {
		binary := map[string][]byte{}
		for i := 0; size > 0; i++ { // validation bounds all of it
			binary[fmt.Sprint("k", i)] = make([]byte, min(size, 100<<10))
			size -= 100 << 10
		}
		_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}, BinaryData: binary}, metav1.CreateOptions{})
		return err
	}
	if err := create(2 << 20); !apierrors.IsInvalid(err) {
		t.Errorf("2 MiB of data: %v", err)
	}
	if err := create(4 << 20); !apierrors.IsRequestEntityTooLargeError(err) || !strings.Contains(err.Error(), "Request entity too large: limit is 3145728") {
		t.Errorf("4 MiB of data: %v", err)
	}
}
