package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubesim/kubesim/sandbox"
)

// newNode makes a node that the test plays: Ready, with a Lease.
func (c *cluster) newNode(name, zone string) {
	c.Helper()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone, corev1.LabelOSStable: "linux"}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}},
	}
	must(c.T)(c.client.CoreV1().Nodes().Create(c.Context(), node, metav1.CreateOptions{}))
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: ptr.To[int32](40), RenewTime: ptr.To(metav1.NowMicro())},
	}
	must(c.T)(c.client.CoordinationV1().Leases("kube-node-lease").Create(c.Context(), lease, metav1.CreateOptions{}))
}

// renew lets nodes show life for so long.
func (c *cluster) renew(d time.Duration, nodes ...string) {
	c.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		for _, node := range nodes {
			patch := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, time.Now().UTC().Format(metav1.RFC3339Micro))
			must(c.T)(c.client.CoordinationV1().Leases("kube-node-lease").Patch(c.Context(), node, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{}))
		}
		c.settle(10 * time.Second)
	}
}

func (c *cluster) node(name string) *corev1.Node {
	c.Helper()
	node, err := c.client.CoreV1().Nodes().Get(c.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return node
}

// taints are a node's, as key:effect, sorted.
func (c *cluster) taints(name string) string {
	c.Helper()
	var taints []string
	for _, taint := range c.node(name).Spec.Taints {
		taints = append(taints, strings.TrimPrefix(taint.Key, "node.kubernetes.io/")+":"+string(taint.Effect))
	}
	slices.Sort(taints)
	return strings.Join(taints, " ")
}

func (c *cluster) podOn(node, name string, tolerations ...corev1.Toleration) {
	c.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{NodeName: node, Tolerations: tolerations, Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27"}}},
	}
	must(c.T)(c.client.CoreV1().Pods("default").Create(c.Context(), pod, metav1.CreateOptions{}))
	status := `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
	must(c.T)(c.client.CoreV1().Pods("default").Patch(c.Context(), name, "application/strategic-merge-patch+json", []byte(status), metav1.PatchOptions{}, "status"))
}

// condition describes a pod's condition; "" if it has none.
func (c *cluster) condition(pod string, kind corev1.PodConditionType) string {
	c.Helper()
	found, err := c.client.CoreV1().Pods("default").Get(c.Context(), pod, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	for _, condition := range found.Status.Conditions {
		if condition.Type == kind {
			return fmt.Sprintf("%s %s", condition.Status, condition.Reason)
		}
	}
	return ""
}

func (c *cluster) deleting(pod string) bool {
	c.Helper()
	found, err := c.client.CoreV1().Pods("default").Get(c.Context(), pod, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		c.Fatal(err)
	}
	return err != nil || found.DeletionTimestamp != nil
}

func TestSilentNode(t *testing.T) {
	inCluster(t, sandbox.Config{}, func(c *cluster) {
		c.newNode("dead", "a")
		c.newNode("alive", "b")
		c.podOn("dead", "p")
		c.settle(time.Second)
		if taints := c.taints("dead"); taints != "" {
			t.Errorf("new with taints %s", taints)
		}
		if node := c.node("dead"); node.Spec.PodCIDR == "" || node.Annotations["node.alpha.kubernetes.io/ttl"] != "0" || node.Labels["beta.kubernetes.io/os"] != "linux" {
			t.Errorf("registered as %+v", node)
		}
		c.renew(40*time.Second, "alive")
		if taints := c.taints("dead"); taints != "" {
			t.Errorf("after 40 s: %s", taints)
		}
		c.renew(20*time.Second, "alive")
		if taints := c.taints("dead"); taints != "unreachable:NoExecute unreachable:NoSchedule" {
			t.Errorf("after a minute: %s", taints)
		}
		if ready := c.node("dead").Status.Conditions[0]; ready.Status != corev1.ConditionUnknown || ready.Reason != "NodeStatusUnknown" || ready.Message != "Kubelet stopped posting node status." {
			t.Errorf("condition %+v", ready)
		}
		if ready := c.condition("p", corev1.PodReady); ready != "False " {
			t.Errorf("the pod's Ready is %s", ready)
		}
		if c.deleting("p") {
			t.Error("evicted at once, tolerating the taint for 300 s")
		}
		// The Lease alone does not make it Ready again: the kubelet has to say so.
		c.renew(30*time.Second, "alive", "dead")
		if taints := c.taints("dead"); taints != "unreachable:NoExecute unreachable:NoSchedule" {
			t.Errorf("renewed, without a status: %s", taints)
		}
		c.renew(4*time.Minute+40*time.Second, "alive", "dead")
		if !c.deleting("p") || c.condition("p", corev1.DisruptionTarget) != "True DeletionByTaintManager" {
			t.Errorf("after 300 s: %s", c.condition("p", corev1.DisruptionTarget))
		}
		status := `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}}`
		must(t)(c.client.CoreV1().Nodes().Patch(c.Context(), "dead", "application/strategic-merge-patch+json", []byte(status), metav1.PatchOptions{}, "status"))
		c.settle(time.Second)
		if taints := c.taints("dead"); taints != "" {
			t.Errorf("back with taints %s", taints)
		}
		if events := c.eventReasons("default"); !events["RegisteredNode"] || !events["NodeNotReady"] || !events["TaintManagerEviction"] {
			t.Errorf("events %v", events)
		}
		must(t)(nil, c.client.CoreV1().Pods("default").Delete(c.Context(), "p", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}))
	})
}

// eventReasons are those of a namespace's events.
func (c *cluster) eventReasons(namespace string) map[string]bool {
	c.Helper()
	list, err := c.client.CoreV1().Events(namespace).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	reasons := map[string]bool{}
	for _, event := range list.Items {
		reasons[event.Reason] = true
	}
	return reasons
}

// TestZonesLimitEvictions has five nodes of a zone of twelve go silent, and then the rest.
func TestZonesLimitEvictions(t *testing.T) {
	inCluster(t, sandbox.Config{}, func(c *cluster) {
		var alive, dead []string
		for i := range 12 {
			name := fmt.Sprintf("n%d", i)
			c.newNode(name, "a")
			if i < 5 {
				dead = append(dead, name)
			} else {
				alive = append(alive, name)
			}
		}
		executing := func() int {
			n := 0
			for _, name := range append(dead, alive...) {
				if strings.Contains(c.taints(name), "NoExecute") {
					n++
				}
			}
			return n
		}
		c.renew(50*time.Second, alive...)
		c.settle(5 * time.Second)
		if n := executing(); n != 1 {
			t.Errorf("%d nodes are tainted when silence is noticed, want 1", n)
		}
		c.renew(20*time.Second, alive...)
		if n := executing(); n != 3 {
			t.Errorf("%d nodes are tainted after 20 s more, want 3", n)
		}
		c.renew(40*time.Second, alive...)
		if n := executing(); n != 5 {
			t.Errorf("%d nodes are tainted in the end, want all 5", n)
		}
		// Seven of twelve: a small zone that is partially disrupted.
		c.renew(2*time.Minute, alive[2:]...)
		if n := executing(); n != 5 {
			t.Errorf("%d nodes are tainted in a zone that is partially disrupted, want still 5", n)
		}
		c.settle(2 * time.Minute)
		if n := executing(); n != 0 {
			t.Errorf("%d nodes are tainted while none is ready, want 0", n)
		}
		if taints := c.taints(alive[5]); taints != "unreachable:NoSchedule" {
			t.Errorf("the last node has taints %s", taints)
		}
	})
}

func TestNodeConditionsBecomeTaints(t *testing.T) {
	inCluster(t, sandbox.Config{Nodes: 1}, func(c *cluster) {
		c.newNode("n", "x")
		set := func(kind, status string) {
			patch := fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":%q,"reason":"ByHand"}]}}`, kind, status)
			must(t)(c.client.CoreV1().Nodes().Patch(c.Context(), "n", "application/strategic-merge-patch+json", []byte(patch), metav1.PatchOptions{}, "status"))
			c.renew(10*time.Second, "n")
		}
		for _, step := range []struct{ kind, status, taints string }{
			{"MemoryPressure", "True", "memory-pressure:NoSchedule"},
			{"DiskPressure", "True", "disk-pressure:NoSchedule memory-pressure:NoSchedule"},
			{"MemoryPressure", "False", "disk-pressure:NoSchedule"},
			{"DiskPressure", "Unknown", ""},
			{"NetworkUnavailable", "True", "network-unavailable:NoSchedule"},
			{"NetworkUnavailable", "False", ""},
			{"Ready", "False", "not-ready:NoExecute not-ready:NoSchedule"},
			{"Ready", "Unknown", "unreachable:NoExecute unreachable:NoSchedule"},
			{"Ready", "True", ""},
		} {
			set(step.kind, step.status)
			if taints := c.taints("n"); taints != step.taints {
				t.Errorf("%s %s: taints %q, want %q", step.kind, step.status, taints, step.taints)
			}
		}
		must(t)(c.client.CoreV1().Nodes().Patch(c.Context(), "n", "application/merge-patch+json", []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{}))
		c.settle(time.Second)
		if taints := c.taints("n"); taints != "unschedulable:NoSchedule" {
			t.Errorf("cordoned: %s", taints)
		}
	})
}

func TestTolerationSeconds(t *testing.T) {
	inCluster(t, sandbox.Config{Nodes: 1}, func(c *cluster) {
		c.newNode("n", "x")
		tolerate := func(seconds *int64) corev1.Toleration {
			return corev1.Toleration{Key: "k", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: seconds}
		}
		c.podOn("n", "never", tolerate(nil))
		c.podOn("n", "soon", tolerate(ptr.To[int64](60)))
		c.podOn("n", "spared", tolerate(ptr.To[int64](200)))
		c.podOn("n", "now")
		taint := func(taints string) {
			must(t)(c.client.CoreV1().Nodes().Patch(c.Context(), "n", "application/merge-patch+json", []byte(`{"spec":{"taints":`+taints+`}}`), metav1.PatchOptions{}))
		}
		taint(`[{"key":"k","effect":"NoExecute"}]`)
		c.renew(50*time.Second, "n")
		if !c.deleting("now") || c.deleting("soon") {
			t.Errorf("after 50 s deleting: now %t, soon %t", c.deleting("now"), c.deleting("soon"))
		}
		c.renew(20*time.Second, "n")
		if !c.deleting("soon") || c.deleting("spared") {
			t.Errorf("after 70 s deleting: soon %t, spared %t", c.deleting("soon"), c.deleting("spared"))
		}
		taint(`null`)
		c.renew(5*time.Minute, "n")
		if c.deleting("never") || c.deleting("spared") {
			t.Errorf("without the taint deleting: never %t, spared %t", c.deleting("never"), c.deleting("spared"))
		}
	})
}

func TestPodsOfMissingNodes(t *testing.T) {
	inCluster(t, sandbox.Config{Nodes: 1}, func(c *cluster) {
		c.newNode("n", "x")
		c.podOn("n", "orphan")
		watch, err := c.client.CoreV1().Pods("default").Watch(c.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var last *corev1.Pod
		var watching sync.WaitGroup
		watching.Go(func() {
			for event := range watch.ResultChan() {
				if pod, ok := event.Object.(*corev1.Pod); ok {
					last = pod
				}
			}
		})
		if err := c.client.CoreV1().Nodes().Delete(c.Context(), "n", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.settle(39 * time.Second)
		if c.deleting("orphan") {
			t.Error("deleted before the node was missing for 40 s")
		}
		c.settle(30 * time.Second)
		watch.Stop()
		watching.Wait()
		if pods := c.pods("default"); len(pods) != 0 || last == nil || last.Status.Phase != corev1.PodFailed {
			t.Fatalf("%d pods are left, the last was %+v", len(pods), last)
		}
		if !slices.ContainsFunc(last.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.DisruptionTarget && c.Reason == "DeletionByPodGC" && c.Message == "PodGC: node no longer exists"
		}) {
			t.Errorf("conditions %+v", last.Status.Conditions)
		}
	})
}

func TestPodsOfANodeOutOfService(t *testing.T) {
	inCluster(t, sandbox.Config{Nodes: 1}, func(c *cluster) {
		c.newNode("n", "x")
		c.podOn("n", "p")
		if err := c.client.CoreV1().Pods("default").Delete(c.Context(), "p", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.settle(2 * time.Minute) // silent, and nobody ends the pod
		if len(c.pods("default")) != 1 {
			t.Fatal("the pod went by itself")
		}
		taint := `{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]}}`
		must(t)(c.client.CoreV1().Nodes().Patch(c.Context(), "n", "application/strategic-merge-patch+json", []byte(taint), metav1.PatchOptions{}))
		c.settle(30 * time.Second)
		if pods := c.pods("default"); len(pods) != 0 {
			t.Errorf("%d pods are left", len(pods))
		}
	})
}
