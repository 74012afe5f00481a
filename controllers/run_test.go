package controllers_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/controllers"
	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/trace"
)

// apiAlone has no controllers but those that a test starts, and admits pods
// without a ServiceAccount.
var apiAlone = sandbox.Config{APIOnly: true, DisableAdmissionPlugins: []string{"ServiceAccount"}}

// start runs controllers beside the test; stop returns when they have ended.
func (c *cluster) start(cfg controllers.Config) (stop func()) {
	return c.startWith(c.RESTConfig(), cfg)
}

func (c *cluster) startWith(config *rest.Config, cfg controllers.Config) (stop func()) {
	cfg.RESTConfig, cfg.Logger = config, slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := controllers.Run(ctx, cfg); err != nil {
			c.Errorf("Run: %v", err)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

func TestOneOfTwoLeads(t *testing.T) {
	inCluster(t, apiAlone, func(c *cluster) {
		lease := func() *coordinationv1.Lease {
			found, err := c.client.CoordinationV1().Leases("kube-system").Get(c.Context(), "kube-controller-manager", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		stopFirst := c.start(controllers.Config{LeaderElect: true})
		c.settle(time.Second)
		first := *lease().Spec.HolderIdentity
		stopSecond := c.start(controllers.Config{LeaderElect: true})
		c.settle(time.Minute)
		if holder := *lease().Spec.HolderIdentity; holder != first {
			t.Errorf("%s took the lead from %s, which is alive", holder, first)
		}
		stopFirst()
		c.settle(10 * time.Second)
		if holder := *lease().Spec.HolderIdentity; holder == first || holder == "" {
			t.Errorf("%q leads after %s has ended", holder, first)
		}
		c.create(web(3))
		c.settle(time.Second)
		if pods := c.pods("default"); len(pods) != 3 {
			t.Errorf("the second made %d pods, want 3", len(pods))
		}
		stopSecond()
	})
}

// TestRestart ends the controllers at many moments of a rollout: whatever they
// had done by then, nothing is done twice.
func TestRestart(t *testing.T) {
	inCluster(t, apiAlone, func(c *cluster) {
		c.create(web(40))
		for range 30 {
			stop := c.start(controllers.Config{})
			time.Sleep(time.Millisecond)
			stop()
		}
		stop := c.start(controllers.Config{})
		defer stop()
		c.settle(time.Minute)
		if sets, pods := len(c.replicaSets("default")), len(c.pods("default")); sets != 1 || pods != 40 {
			t.Errorf("%d ReplicaSets and %d pods, want 1 and 40", sets, pods)
		}
	})
}

func TestControllersAreSelected(t *testing.T) {
	inCluster(t, apiAlone, func(c *cluster) {
		stop := c.start(controllers.Config{Controllers: []string{"*", "-replicaset-controller"}})
		defer stop()
		c.create(web(3))
		c.settle(time.Minute)
		if sets, pods := len(c.replicaSets("default")), len(c.pods("default")); sets != 1 || pods != 0 {
			t.Errorf("%d ReplicaSets and %d pods, want 1 and 0", sets, pods)
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	err := controllers.Run(t.Context(), controllers.Config{})
	if err == nil || !strings.Contains(err.Error(), "RESTConfig") {
		t.Errorf("without RESTConfig: %v", err)
	}
}

// TestSpansLeadFromTheDeploymentToItsPods follows the record back: what woke a
// reconcile is a revision that a request of the one before wrote.
func TestSpansLeadFromTheDeploymentToItsPods(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		created := c.create(web(1))
		c.waitRolledOut("web")
		pod := c.pods("default")[0]
		spans := c.Recorder().Spans()
		find := func(what string, matches func(trace.Span) bool) trace.Span {
			i := slices.IndexFunc(spans, matches)
			if i < 0 {
				t.Fatalf("no span: %s", what)
			}
			return spans[i]
		}
		post := find("creation of the pod", func(s trace.Span) bool { return s.Verb == "create" && s.Object == "pods/default/"+pod.Name })
		byReplicaSet := find("reconcile of the ReplicaSet", func(s trace.Span) bool { return s.SpanID == post.ParentID })
		if byReplicaSet.Component != "replicaset-controller" || byReplicaSet.Decision != "want 1, have 0, create 1" {
			t.Errorf("the pod comes from %+v", byReplicaSet)
		}
		write := find("the write that woke it", func(s trace.Span) bool { return s.Wrote == byReplicaSet.Woke && s.Name != "reconcile" })
		byDeployment := find("reconcile of the Deployment", func(s trace.Span) bool { return s.SpanID == write.ParentID })
		if byDeployment.Component != "deployment-controller" || byDeployment.Object != "deployments.apps/default/web" || byDeployment.WokeObject != "deployments.apps/default/web" {
			t.Errorf("the ReplicaSet comes from %+v", byDeployment)
		}
		if created.ResourceVersion == "" || byDeployment.Woke == 0 {
			t.Errorf("the Deployment of revision %s woke at %d", created.ResourceVersion, byDeployment.Woke)
		}
	})
}
