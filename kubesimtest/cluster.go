package kubesimtest

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/sandbox/fault"
	"github.com/kubesim/kubesim/sandbox/manifest"
	"github.com/kubesim/kubesim/trace/timeline"
)

const (
	// patience is how long Eventually waits.
	patience = 30 * time.Second
	// pollInterval is how often it looks.
	pollInterval = 20 * time.Millisecond
)

// Options say what a cluster is made of. The zero value is a control plane
// without nodes, in memory, that listens nowhere.
type Options struct {
	// Nodes is how many nodes are played. Without nodes pods stay Pending.
	Nodes int
	// Controllers selects by name: "*" is all, "-name" leaves one out; empty is all.
	Controllers []string
	// NoScheduler and NoControllers leave out what the test plays itself.
	NoScheduler, NoControllers bool
	// Listen serves plain HTTP and TLS on free ports of the loopback address, for
	// other processes; see Cluster.Kubeconfig. It is of no use in a bubble.
	Listen bool
	// Log gets the messages of all parts; they are dropped if nil.
	Log io.Writer
}

// Cluster is a running cluster. It ends with its test.
type Cluster struct {
	t       testing.TB
	sandbox *sandbox.Sandbox
	objects *manifest.Client
	dir     string // "" if it listens nowhere
	applied []*manifest.Posted
}

// Start starts a cluster and returns when its nodes are ready.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	cfg := sandbox.Config{
		Nodes: o.Nodes, Controllers: o.Controllers, NoScheduler: o.NoScheduler, NoControllers: o.NoControllers,
		APIOnly: o.NoControllers && o.NoScheduler && o.Nodes == 0, Logger: slog.New(slog.DiscardHandler),
	}
	if o.Log != nil {
		cfg.Logger = slog.New(slog.NewTextHandler(o.Log, nil))
	}
	c := &Cluster{t: t}
	if o.Listen {
		c.dir = t.TempDir()
		cfg.DataDir, cfg.HTTP, cfg.HTTPS = c.dir, "127.0.0.1:0", "127.0.0.1:0"
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	if c.sandbox, err = sandbox.Start(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.end)
	if err := c.sandbox.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	if c.objects, err = manifest.NewClient(c.sandbox.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	return c
}

// end closes the cluster, and tells what happened in a test that failed.
func (c *Cluster) end() {
	if c.t.Failed() {
		c.logSteps()
	}
	if err := c.sandbox.Close(); err != nil {
		c.t.Errorf("ending the cluster: %v", err)
	}
}

// logSteps prints how what the test applied came to be what it is.
func (c *Cluster) logSteps() {
	spans := c.sandbox.Recorder().Spans()
	var family []string
	for _, posted := range c.applied {
		family = append(family, timeline.Descendants(spans, posted.TraceName())...)
	}
	steps := timeline.Build(spans, family)
	if len(steps) == 0 {
		return
	}
	var text strings.Builder
	if err := timeline.Render(&text, steps); err != nil {
		c.t.Log(err)
		return
	}
	c.t.Logf("steps of what was applied:\n%s", text.String())
}

// Config reaches the API server without a socket, as a user who may do
// everything. Each call returns a new one, which may be changed: set Impersonate
// to be somebody else.
func (c *Cluster) Config() *rest.Config { return c.sandbox.RESTConfig() }

// Client is a client of Config.
func (c *Cluster) Client() kubernetes.Interface {
	c.t.Helper()
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		c.t.Fatal(err)
	}
	return client
}

// Break adds a fault, see package fault for those that there are. It ends by its
// time, with the cluster, or by the function returned.
func (c *Cluster) Break(f fault.Fault) (heal func()) {
	c.t.Helper()
	added, err := c.sandbox.Faults().Add(f)
	if err != nil {
		c.t.Fatal(err)
	}
	return func() { c.sandbox.Faults().Clear(added.ID) }
}

// URL is where the cluster listens, "" if nowhere.
func (c *Cluster) URL() string { return c.sandbox.URL() }

// Kubeconfig is the path of a file by which other processes find the cluster.
func (c *Cluster) Kubeconfig() string {
	c.t.Helper()
	if c.dir == "" {
		c.t.Fatal("kubesimtest: a kubeconfig needs Options.Listen")
	}
	return sandbox.KubeconfigPath(c.dir)
}

// Apply posts the objects of a manifest, YAML or JSON. What exists is replaced.
func (c *Cluster) Apply(manifests string) []*unstructured.Unstructured {
	c.t.Helper()
	objects, err := manifest.Decode(strings.NewReader(manifests))
	if err != nil {
		c.t.Fatal(err)
	}
	out := make([]*unstructured.Unstructured, len(objects))
	for i, obj := range objects {
		posted, err := c.objects.Post(context.Background(), obj)
		if err != nil {
			c.t.Fatalf("%s %s: %v", obj.GetKind(), obj.GetName(), err)
		}
		c.applied = append(c.applied, posted)
		out[i] = posted.Object
	}
	return out
}

// ApplyFile posts the objects of a file.
func (c *Cluster) ApplyFile(path string) []*unstructured.Unstructured {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		c.t.Fatal(err)
	}
	return c.Apply(string(text))
}

// Eventually looks until ok is true. An error counts as not yet, and the last one
// is told when the time is up.
func (c *Cluster) Eventually(what string, ok func(ctx context.Context) (bool, error)) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var last error
	for {
		done, err := ok(ctx)
		if done && err == nil {
			return
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			c.t.Fatalf("%s: not after %v, last error: %v", what, patience, last)
		}
	}
}
