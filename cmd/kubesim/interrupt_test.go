package main

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// TestInterruptWithOpenWatches: Ctrl-C ends the process in good order and in two
// seconds, whoever watches.
func TestInterruptWithOpenWatches(t *testing.T) {
	p := startProcess(t, "up", "--ephemeral", "--http", "127.0.0.1:0", "--nodes", "10")
	watches := make([]io.ReadCloser, 100)
	for i := range watches {
		watches[i] = openWatch(t, p.url, []string{"pods", "nodes", "events", "configmaps"}[i%4])
	}
	if took := p.interrupt(t); took > 2*time.Second {
		t.Errorf("it took %s to end", took)
	}
	for _, watch := range watches {
		// What a watch sent is of no interest here, only that it ends.
		_, _ = io.Copy(io.Discard, watch)
	}
}

func openWatch(t *testing.T, url, resource string) io.ReadCloser {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/api/v1/%s?watch=true", url, resource), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		t.Fatalf("watching %s: %s", resource, response.Status)
	}
	return response.Body
}
