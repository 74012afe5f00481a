package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// crashWrites is how many writes are acknowledged before the process is killed.
const crashWrites = 200

// TestKillUnderLoad kills the server twice while clients and controllers write.
// After a restart every acknowledged write is there, revisions have only risen,
// and the Deployment has its pods once.
func TestKillUnderLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	acknowledged := map[string]int64{} // revision by name
	newest := int64(0)
	for round := range 2 {
		p := startProcess(t, "up", "--data-dir", dir, "--http", "127.0.0.1:0", "--nodes", "3")
		if round == 0 {
			mustPost(t, p.url+"/apis/apps/v1/namespaces/default/deployments", crashDeployment)
		}
		for name, revision := range writeUntilKilled(t, p, round) {
			if revision <= newest {
				t.Errorf("%s was written at revision %d after one at %d", name, revision, newest)
			}
			acknowledged[name] = revision
		}
		for _, revision := range acknowledged {
			newest = max(newest, revision)
		}
	}
	p := startProcess(t, "up", "--data-dir", dir, "--http", "127.0.0.1:0", "--nodes", "3")
	checkWrites(t, p.url, acknowledged, newest)
	checkPods(t, p.url)
}

const crashDeployment = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 30,
	"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "nginx"}]}}}}`

// writeUntilKilled creates ConfigMaps from several clients, kills the server in
// the midst of it, and returns what was acknowledged.
func writeUntilKilled(t *testing.T, p *process, round int) map[string]int64 {
	t.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	acknowledged := map[string]int64{}
	enough := make(chan struct{})
	for client := range 8 {
		clients.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("c-%d-%d-%d", round, client, i)
				object, err := post(t.Context(), p.url+"/api/v1/namespaces/default/configmaps",
					fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": %q}}`, name))
				if err != nil {
					return // the server is gone
				}
				mu.Lock()
				acknowledged[name] = object.revision()
				if len(acknowledged) == crashWrites {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(time.Minute):
		t.Errorf("fewer than %d writes were acknowledged in a minute", crashWrites)
	}
	p.kill(t)
	clients.Wait()
	return acknowledged
}

// checkWrites looks for each acknowledged write, once and at its revision.
func checkWrites(t *testing.T, url string, acknowledged map[string]int64, newest int64) {
	t.Helper()
	list := getList(t, url+"/api/v1/namespaces/default/configmaps")
	if list.revision() < newest {
		t.Errorf("the list is of revision %d, a write of %d was acknowledged", list.revision(), newest)
	}
	found := map[string]int64{}
	for _, item := range list.Items {
		if _, twice := found[item.Metadata.Name]; twice {
			t.Errorf("%s is there twice", item.Metadata.Name)
		}
		found[item.Metadata.Name] = item.revision()
	}
	for name, revision := range acknowledged {
		if found[name] != revision {
			t.Errorf("%s was acknowledged at revision %d and is there at %d", name, revision, found[name])
		}
	}
}

// checkPods waits for the Deployment and counts what was made for it.
func checkPods(t *testing.T, url string) {
	t.Helper()
	_, stderr, err := runKubesim(t, "kubectl", "--server", url, "rollout", "status", "deployment/web", "--timeout", "30s")
	if err != nil {
		t.Fatalf("waiting for the Deployment: %v\n%s", err, stderr)
	}
	for path, want := range map[string]int{
		"/apis/apps/v1/namespaces/default/replicasets":           1,
		"/api/v1/namespaces/default/pods?labelSelector=app":      30,
		"/api/v1/namespaces?fieldSelector=metadata.name=default": 1,
	} {
		if list := getList(t, url+path); len(list.Items) != want {
			t.Errorf("%s has %d items, want %d", path, len(list.Items), want)
		}
	}
}

// object is what the tests read of an object or a list.
type object struct {
	Metadata struct{ Name, ResourceVersion string }
	Items    []object
}

func (o *object) revision() int64 {
	revision, _ := strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64)
	return revision
}

func post(ctx context.Context, url, body string) (*object, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	return do(request, http.StatusCreated)
}

func mustPost(t *testing.T, url, body string) {
	t.Helper()
	if _, err := post(t.Context(), url, body); err != nil {
		t.Fatal(err)
	}
}

func getList(t *testing.T, url string) *object {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := do(request, http.StatusOK)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// do sends a request and reads the whole answer: only then is a write acknowledged.
func do(request *http.Request, want int) (*object, error) {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != want {
		return nil, fmt.Errorf("%s %s: %s: %s", request.Method, request.URL, response.Status, body)
	}
	var answer object
	return &answer, json.Unmarshal(body, &answer)
}
