// Package frameworktest makes pods and nodes for tests of plugins from YAML
// in flow style, so that a table's line shows all that matters.
package frameworktest

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Pod returns a pod in namespace default with its name as UID. A spec without
// containers gets one without requests.
func Pod(tb testing.TB, manifest string) *v1.Pod {
	tb.Helper()
	pod := &v1.Pod{}
	decode(tb, manifest, pod)
	if pod.Namespace == "" {
		pod.Namespace = "default"
	}
	if pod.Name == "" {
		pod.Name = "pod"
	}
	if pod.UID == "" {
		pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
	}
	if pod.Spec.SchedulerName == "" {
		pod.Spec.SchedulerName = v1.DefaultSchedulerName
	}
	if len(pod.Spec.Containers) == 0 {
		pod.Spec.Containers = []v1.Container{{Name: "c"}}
	}
	return pod
}

// Pending returns such a pod as one to be placed.
func Pending(tb testing.TB, manifest string) *framework.PodInfo {
	tb.Helper()
	info, err := framework.NewPendingPodInfo(Pod(tb, manifest))
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

// Placed returns such a pod as one on a node.
func Placed(tb testing.TB, manifest string) *framework.PodInfo {
	tb.Helper()
	info, err := framework.NewPodInfo(Pod(tb, manifest))
	if err != nil {
		tb.Fatal(err)
	}
	return info
}

// Node returns a node with 4 CPU, 8Gi and room for 110 pods unless told otherwise.
func Node(tb testing.TB, manifest string) *v1.Node {
	tb.Helper()
	node := &v1.Node{}
	decode(tb, "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}", node)
	decode(tb, manifest, node)
	if node.Name == "" {
		node.Name = "node"
	}
	return node
}

// NodeInfo returns such a node with pods on it.
func NodeInfo(tb testing.TB, manifest string, pods ...*framework.PodInfo) *framework.NodeInfo {
	tb.Helper()
	return framework.NewNodeInfo(Node(tb, manifest), pods...)
}

func decode(tb testing.TB, manifest string, into any) {
	tb.Helper()
	if err := yaml.Unmarshal([]byte(manifest), into); err != nil {
		tb.Fatalf("%s: %v", manifest, err)
	}
}
