package fakelet_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/fakelet"
	"github.com/kubesim/kubesim/fakelet/stage"
	"github.com/kubesim/kubesim/sandbox"
)

// cluster is an API server, and a fakelet that can be stopped and started.
type cluster struct {
	*testing.T
	config  *rest.Config
	client  kubernetes.Interface
	nodes   int
	stages  stage.Stages
	stop    context.CancelFunc
	running sync.WaitGroup

	kubelets pipes
}

// inCluster runs a test in virtual time.
func inCluster(t *testing.T, nodes int, test func(c *cluster)) {
	synctest.Test(t, func(t *testing.T) {
		s, err := sandbox.Start(t.Context(), sandbox.Config{APIOnly: true, DisableAdmissionPlugins: []string{"ServiceAccount"}, Logger: discard()})
		if err != nil {
			t.Fatal(err)
		}
		c := &cluster{T: t, config: s.RESTConfig(), nodes: nodes}
		if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
			t.Fatal(err)
		}
		c.start()
		test(c)
		c.halt()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func discard() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func (c *cluster) start() {
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	c.kubelets = pipes{make(chan net.Conn)}
	listener := c.kubelets
	c.running.Go(func() {
		if err := fakelet.Run(ctx, fakelet.Config{RESTConfig: c.config, Nodes: c.nodes, Stages: c.stages, Logger: discard(), Listener: listener}); err != nil {
			c.Errorf("Run: %v", err)
		}
	})
	c.settle()
}

// halt returns once every goroutine of the fakelet has ended.
func (c *cluster) halt() {
	c.stop()
	c.running.Wait()
}

// settle waits until nothing moves any more, and a little for what is rate limited.
func (c *cluster) settle() {
	synctest.Wait()
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
}

func (c *cluster) node(name string) *corev1.Node {
	c.Helper()
	node, err := c.client.CoreV1().Nodes().Get(c.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return node
}

func (c *cluster) pod(name string) *corev1.Pod {
	c.Helper()
	pod, err := c.client.CoreV1().Pods("default").Get(c.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return pod
}

// create posts a pod that is bound by hand.
func (c *cluster) create(name, node string, command ...string) {
	c.Helper()
	image := "busybox:1.37"
	if len(command) == 0 {
		image = "nginx:1.27" // a server
	}
	_, err := c.client.CoreV1().Pods("default").Create(c.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, RestartPolicy: corev1.RestartPolicyOnFailure,
			Containers: []corev1.Container{{Name: "c", Image: image, Command: command}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) delete(name string) {
	c.Helper()
	if err := c.client.CoreV1().Pods("default").Delete(c.Context(), name, metav1.DeleteOptions{}); err != nil {
		c.Fatal(err)
	}
}

func ready(conditions []corev1.PodCondition) bool {
	return slices.ContainsFunc(conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

func TestNodesAreRegisteredAndKeptAlive(t *testing.T) {
	inCluster(t, 3, func(c *cluster) {
		for i := range 3 {
			node := c.node(fmt.Sprintf("node-%d", i+1))
			if want := fmt.Sprintf("10.244.%d.0/24", i); node.Spec.PodCIDR != want {
				c.Errorf("%s has pod CIDR %s, want %s", node.Name, node.Spec.PodCIDR, want)
			}
			if len(node.Spec.Taints) != 1 || node.Spec.Taints[0].Key != corev1.TaintNodeNotReady {
				c.Errorf("%s has taints %v: the one that admission adds is not a kubelet's to remove", node.Name, node.Spec.Taints)
			}
		}
		first, revisions := c.node("node-1"), map[string]bool{}
		for range 36 {
			time.Sleep(10 * time.Second)
			lease, err := c.client.CoordinationV1().Leases("kube-node-lease").Get(c.Context(), "node-1", metav1.GetOptions{})
			if err != nil {
				c.Fatal(err)
			}
			if age := time.Since(lease.Spec.RenewTime.Time); age > 10*time.Second {
				c.Errorf("the Lease was renewed %s ago", age)
			}
			if owner := lease.OwnerReferences[0]; owner.UID != first.UID || *lease.Spec.HolderIdentity != "node-1" || *lease.Spec.LeaseDurationSeconds != 40 {
				c.Errorf("Lease %+v of %+v", lease.Spec, owner)
			}
			revisions[c.node("node-1").ResourceVersion] = true
		}
		if len(revisions) < 2 || len(revisions) > 3 {
			c.Errorf("the Node was written %d times in 6 minutes, want a report every 5", len(revisions)-1)
		}
	})
}

func TestPodsLiveAndGo(t *testing.T) {
	inCluster(t, 2, func(c *cluster) {
		c.create("web", "node-1")
		c.create("job", "node-2", "sh", "-c", "sleep 20; exit 0")
		c.create("bad", "node-2", "false")
		c.settle()
		web := c.pod("web")
		if !ready(web.Status.Conditions) || web.Status.PodIP != "10.244.0.2" || web.Status.HostIP != "172.18.0.2" || web.Status.QOSClass != corev1.PodQOSBestEffort {
			c.Errorf("web: %+v", web.Status)
		}
		if got := c.pod("job").Status.Phase; got != corev1.PodRunning {
			c.Errorf("job is %s at first", got)
		}
		time.Sleep(25 * time.Second)
		if got := c.pod("job").Status.Phase; got != corev1.PodSucceeded {
			c.Errorf("job is %s after its time", got)
		}
		if got := c.pod("bad").Status.ContainerStatuses[0]; got.RestartCount != 2 || got.State.Waiting == nil || got.State.Waiting.Reason != "CrashLoopBackOff" {
			c.Errorf("bad: %+v", got)
		}
		for _, name := range []string{"web", "job", "bad"} {
			c.delete(name)
		}
		c.settle()
		left, err := c.client.CoreV1().Pods("default").List(c.Context(), metav1.ListOptions{})
		if err != nil || len(left.Items) != 0 {
			c.Errorf("%d pods are left, %v", len(left.Items), err)
		}
	})
}

func TestEventsAreAggregated(t *testing.T) {
	inCluster(t, 1, func(c *cluster) {
		c.create("bad", "node-1", "false")
		time.Sleep(3 * time.Minute)
		events, err := c.client.CoreV1().Events("default").List(c.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=bad"})
		if err != nil {
			c.Fatal(err)
		}
		counts := map[string]int32{}
		for _, e := range events.Items {
			counts[e.Reason] += e.Count
			if e.Source.Component != "kubelet" || e.Source.Host != "node-1" || e.InvolvedObject.FieldPath != "spec.containers{c}" {
				c.Errorf("%s comes from %+v about %s", e.Reason, e.Source, e.InvolvedObject.FieldPath)
			}
		}
		if len(events.Items) != 4 || counts["Started"] < 5 || counts["BackOff"] < 4 {
			c.Errorf("%d events, counts %v", len(events.Items), counts)
		}
	})
}

func TestRestartLeavesPodsRunning(t *testing.T) {
	inCluster(t, 1, func(c *cluster) {
		for i := range 5 {
			c.create(fmt.Sprintf("p%d", i), "node-1")
		}
		c.settle()
		before := map[string]*corev1.Pod{}
		for i := range 5 {
			name := fmt.Sprintf("p%d", i)
			before[name] = c.pod(name)
		}
		c.halt()
		c.create("new", "node-1")
		time.Sleep(time.Hour)
		c.start()
		ips := map[string]string{c.pod("new").Status.PodIP: "new"}
		for name, old := range before {
			now := c.pod(name)
			if now.ResourceVersion != old.ResourceVersion {
				c.Errorf("%s was written: %+v", name, now.Status)
			}
			if other, ok := ips[now.Status.PodIP]; ok {
				c.Errorf("%s and %s have the address %s", name, other, now.Status.PodIP)
			}
			ips[now.Status.PodIP] = name
		}
		if !ready(c.pod("new").Status.Conditions) {
			c.Error("the pod that came meanwhile is not ready")
		}
	})
}

func TestOnlyAnnotatedNodesOfOthersArePlayed(t *testing.T) {
	inCluster(t, 1, func(c *cluster) {
		foreign := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
		foreign, err := c.client.CoreV1().Nodes().Create(c.Context(), foreign, metav1.CreateOptions{})
		if err != nil {
			c.Fatal(err)
		}
		c.create("p", "foreign")
		time.Sleep(time.Minute)
		if now := c.node("foreign"); now.ResourceVersion != foreign.ResourceVersion || c.pod("p").Status.StartTime != nil {
			c.Fatalf("a foreign node was touched: %+v, pod %+v", now, c.pod("p").Status)
		}

		foreign.Annotations = map[string]string{"kubesim.io/fake": "true"}
		if _, err := c.client.CoreV1().Nodes().Update(c.Context(), foreign, metav1.UpdateOptions{}); err != nil {
			c.Fatal(err)
		}
		c.settle()
		now := c.node("foreign")
		if now.Spec.PodCIDR != "10.244.1.0/24" || now.Status.Allocatable.Cpu().String() != "4" {
			c.Errorf("the annotated node: %+v, %+v", now.Spec, now.Status.Allocatable)
		}
		if pod := c.pod("p"); !ready(pod.Status.Conditions) || pod.Status.PodIP != "10.244.1.2" {
			c.Errorf("its pod: %+v", pod.Status)
		}

		if err := c.client.CoreV1().Nodes().Delete(c.Context(), "foreign", metav1.DeleteOptions{}); err != nil {
			c.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err := c.client.CoreV1().Nodes().Get(c.Context(), "foreign", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			c.Errorf("the deleted node came back: %v", err)
		}
	})
}

func TestNodeIsRepairedWithTheNextRenewal(t *testing.T) {
	inCluster(t, 1, func(c *cluster) {
		node := c.node("node-1")
		for i := range node.Status.Conditions {
			node.Status.Conditions[i].Status = corev1.ConditionUnknown
		}
		if _, err := c.client.CoreV1().Nodes().UpdateStatus(c.Context(), node, metav1.UpdateOptions{}); err != nil {
			c.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		for _, condition := range c.node("node-1").Status.Conditions {
			if condition.Status == corev1.ConditionUnknown {
				c.Errorf("%s is still Unknown", condition.Type)
			}
		}
	})
}
