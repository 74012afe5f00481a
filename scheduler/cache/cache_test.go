package cache_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/kubesim/kubesim/scheduler/cache"
	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
)

func pod(t *testing.T, name, node string) *framework.PodInfo {
	return frameworktest.Placed(t, fmt.Sprintf(
		"{metadata: {name: %s}, spec: {nodeName: %s, containers: [{resources: {requests: {cpu: 1}}}]}}", name, node))
}

func TestPodIsCountedOnce(t *testing.T) {
	c, s := cache.New(), framework.NewSnapshot()
	c.SetNode(frameworktest.Node(t, "metadata: {name: node}"))
	check := func(when string, cores int64) {
		t.Helper()
		c.Update(s)
		if got := s.Node("node").Requested.MilliCPU; got != cores*1000 {
			t.Errorf("%s: %d m requested, want %d cores", when, got, cores)
		}
	}
	a := pod(t, "a", "node")
	if err := c.Assume(a); err != nil {
		t.Fatal(err)
	}
	check("assumed", 1)
	if err := c.Assume(a); !errors.Is(err, cache.ErrPodKnown) {
		t.Errorf("assumed twice: %v", err)
	}
	bound := a.Pod.DeepCopy()
	bound.Labels = map[string]string{"zone": "a"}
	if err := c.SetPod(bound); err != nil {
		t.Fatal(err)
	}
	check("bound", 1)
	if got := s.Node("node").Pods[0].Pod.Labels["zone"]; got != "a" {
		t.Error("the labels of the binding are missing")
	}
	c.Forget(a.Pod.UID)
	check("a bound pod is not forgotten", 1)
	c.RemovePod(a.Pod.UID)
	check("removed", 0)
	if err := c.Assume(a); err != nil {
		t.Fatal(err)
	}
	c.Forget(a.Pod.UID)
	check("forgotten", 0)
}

func TestPodsOutliveTheirNode(t *testing.T) {
	c, s := cache.New(), framework.NewSnapshot()
	if err := c.SetPod(pod(t, "a", "node").Pod); err != nil { // seen before its node
		t.Fatal(err)
	}
	c.Update(s)
	if len(s.Nodes) != 0 {
		t.Fatal("a node that does not exist")
	}
	for range 2 {
		c.SetNode(frameworktest.Node(t, "metadata: {name: node}"))
		c.Update(s)
		if got := len(s.Node("node").Pods); got != 1 {
			t.Errorf("%d pods, want 1", got)
		}
		c.RemoveNode("node")
		c.Update(s)
		if s.Node("node") != nil || len(s.Nodes) != 0 {
			t.Error("the node is still there")
		}
	}
}

func TestSnapshotTakesZonesInTurn(t *testing.T) {
	c, s := cache.New(), framework.NewSnapshot()
	for _, node := range []string{"1a", "2a", "3a", "1b", "1c", "2c"} {
		c.SetNode(frameworktest.Node(t, fmt.Sprintf("metadata: {name: %s, labels: {topology.kubernetes.io/zone: %s}}", node, node[1:])))
	}
	c.Update(s)
	var names []string
	for i, n := range s.Nodes {
		names = append(names, n.Name())
		if n.Index != i {
			t.Errorf("%s has index %d, want %d", n.Name(), n.Index, i)
		}
	}
	if want := []string{"1a", "1b", "1c", "2a", "2c", "3a"}; !slices.Equal(names, want) {
		t.Errorf("order is %v, want %v", names, want)
	}
}

func TestUpdateReplacesOnlyWhatChanged(t *testing.T) {
	c, s := cache.New(), framework.NewSnapshot()
	for _, name := range []string{"a", "b"} {
		c.SetNode(frameworktest.Node(t, "metadata: {name: "+name+"}"))
	}
	c.Update(s)
	a, b := s.Node("a"), s.Node("b")
	if err := c.Assume(pod(t, "p", "b")); err != nil {
		t.Fatal(err)
	}
	c.Update(s)
	if s.Node("a") != a {
		t.Error("a was replaced")
	}
	if s.Node("b") == b || s.Node("b").Generation == b.Generation || len(b.Pods) != 0 {
		t.Error("b was not replaced, or its old state was changed")
	}
	status := pod(t, "p", "b").Pod
	status.Status.Phase = "Running"
	if err := c.SetPod(status); err != nil {
		t.Fatal(err)
	}
	generation := s.Node("b").Generation
	c.Update(s)
	if s.Node("b").Generation != generation {
		t.Error("a phase changed the node")
	}
}
