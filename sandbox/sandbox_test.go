package sandbox_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/sandbox/manifest"
	"github.com/kubesim/kubesim/trace/timeline"
)

// start makes a sandbox that ends with the test.
func start(t *testing.T, cfg sandbox.Config) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// postAll posts a manifest of the repository and follows it until all of it runs.
func postAll(ctx context.Context, t *testing.T, client *manifest.Client, path string) []*manifest.Posted {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	objects, err := manifest.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []*manifest.Posted
	for _, obj := range objects {
		posted, err := client.Post(ctx, obj)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Follow(ctx, posted, func(words string) { t.Log(posted.Name(), words) }); err != nil {
			t.Fatal(err)
		}
		all = append(all, posted)
	}
	return all
}

// TestPipeline is the whole way of a Deployment, from request to Running, in
// virtual time and without a socket; the spans tell it as one story.
func TestPipeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, sandbox.Config{Nodes: 3})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.WaitReady(ctx); err != nil {
			t.Fatal(err)
		}
		config := s.RESTConfig()
		config.UserAgent = "test"
		client, err := manifest.NewClient(config)
		if err != nil {
			t.Fatal(err)
		}
		posted := postAll(ctx, t, client, "../testdata/web.yaml")
		synctest.Wait()
		checkStory(t, s, posted[0])
	})
}

// checkStory looks for the steps from a Deployment to its first pod Running.
func checkStory(t *testing.T, s *sandbox.Sandbox, root *manifest.Posted) {
	t.Helper()
	spans := s.Recorder().Spans()
	steps := timeline.Build(spans, timeline.Descendants(spans, root.TraceName()))
	written := map[int64]bool{}
	for _, span := range spans { // a kubelet may be woken by what else its pods need
		if span.Wrote != 0 && !strings.HasPrefix(span.Object, "pods/default/web-") && !strings.Contains(span.Object, "/web") {
			written[span.Wrote] = true
		}
	}
	for _, want := range []struct{ who, did, object string }{
		{"test", "created", "deployments.apps/default/web"},
		{"deployment-controller", "created", "replicasets.apps/default/web-"},
		{"replicaset-controller", "created", "pods/default/web-"},
		{"scheduler", "bound", "pods/default/web-"},
		{"kubelet ", "reported status of", "pods/default/web-"},
	} {
		i := slices.IndexFunc(steps, func(step timeline.Step) bool {
			return strings.HasPrefix(step.Who, want.who) && step.Did == want.did && strings.HasPrefix(step.Object, want.object)
		})
		if i < 0 {
			t.Fatalf("no step %v in %+v", want, steps)
		}
		if step := steps[i]; step.Woke != 0 && !written[step.Woke] || step.Woke == 0 && want.who != "test" {
			t.Errorf("%v was woken by revision %d of %s, which no step before wrote", want, step.Woke, step.WokeObject)
		}
		for _, before := range steps[:i+1] {
			written[before.Revision] = true
		}
	}
}

func TestWaitReadyEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, sandbox.Config{Nodes: 1})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.WaitReady(ctx); err == nil {
			t.Error("WaitReady succeeded after its context ended")
		}
	})
}

func TestPostUpdatesWhatExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, sandbox.Config{Nodes: 1})
		client, err := manifest.NewClient(s.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		for i, test := range []struct {
			manifest string
			created  bool
			value    string
		}{
			{"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: first}}", true, "first"},
			{"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: second}}", false, "second"},
		} {
			objects, err := manifest.Decode(strings.NewReader(test.manifest))
			if err != nil {
				t.Fatal(err)
			}
			posted, err := client.Post(t.Context(), objects[0])
			if err != nil {
				t.Fatal(err)
			}
			data, _ := posted.Object.Object["data"].(map[string]any)
			if posted.Created != test.created || data["k"] != test.value {
				t.Errorf("post %d: created %t, data %v", i, posted.Created, data)
			}
		}
		objects, err := manifest.Decode(strings.NewReader("{apiVersion: example.com/v1, kind: Unknown, metadata: {name: a}}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Post(t.Context(), objects[0]); !meta.IsNoMatchError(err) {
			t.Errorf("posting an unknown kind: %v", err)
		}
	})
}

func TestConfigErrorsNameTheFlag(t *testing.T) {
	for flag, cfg := range map[string]sandbox.Config{
		"--store":        {Store: "mysql"},
		"--nodes":        {Nodes: -1},
		"--http":         {HTTP: "8080"},
		"--data-dir":     {Store: sandbox.StoreEtcd},
		"--etcd-servers": {EtcdServers: []string{"http://127.0.0.1:2379"}},
	} {
		if _, err := sandbox.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%+v: error is %v, want one that names %s", cfg, err, flag)
		}
	}
}
