package controllers_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/sandbox"
)

// cluster is a whole one in virtual time, on the memory store.
type cluster struct {
	*testing.T
	*sandbox.Sandbox
	client kubernetes.Interface
}

// inCluster runs a test within a cluster, and checks at its end that what is
// left makes sense.
func inCluster(t *testing.T, cfg sandbox.Config, test func(*cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg.Logger = slog.New(slog.DiscardHandler)
		s, err := sandbox.Start(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		if err := s.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(s.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		c := &cluster{T: t, Sandbox: s, client: client}
		c.eventually("default ServiceAccount", func() bool {
			_, err := client.CoreV1().ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{})
			return cfg.APIOnly || err == nil
		})
		test(c)
		c.checkSanity()
	})
}

// eventually waits up to an hour of virtual time.
func (c *cluster) eventually(what string, holds func() bool) {
	c.Helper()
	for deadline := time.Now().Add(time.Hour); !holds(); {
		if time.Now().After(deadline) {
			c.Fatalf("not within an hour: %s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// settle lets everything happen that is about to, but for what waits longer than d.
func (c *cluster) settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (c *cluster) create(d *appsv1.Deployment) *appsv1.Deployment {
	c.Helper()
	created, err := c.client.AppsV1().Deployments(d.Namespace).Create(c.Context(), d, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return created
}

func (c *cluster) patch(name, patch string) {
	c.Helper()
	if _, err := c.client.AppsV1().Deployments("default").Patch(c.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) deployment(name string) *appsv1.Deployment {
	c.Helper()
	d, err := c.client.AppsV1().Deployments("default").Get(c.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return d
}

func (c *cluster) pods(namespace string) []corev1.Pod {
	c.Helper()
	list, err := c.client.CoreV1().Pods(namespace).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return list.Items
}

func (c *cluster) replicaSets(namespace string) []appsv1.ReplicaSet {
	c.Helper()
	list, err := c.client.AppsV1().ReplicaSets(namespace).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return list.Items
}

// waitRolledOut waits as kubectl rollout status does.
func (c *cluster) waitRolledOut(name string) {
	c.Helper()
	c.eventually(name+" is rolled out", func() bool {
		d := c.deployment(name)
		want := *d.Spec.Replicas
		return d.Status.ObservedGeneration >= d.Generation && d.Status.Replicas == want && d.Status.UpdatedReplicas == want && d.Status.AvailableReplicas == want
	})
}

func web(replicas int32) *appsv1.Deployment {
	app := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27"}}},
			},
		},
	}
}

// checkSanity holds for every cluster that has come to rest: owners exist,
// owned pods match their owner's selector, and pods are on nodes that exist.
func (c *cluster) checkSanity() {
	c.Helper()
	uids := map[types.UID]bool{}
	sets := map[types.UID]appsv1.ReplicaSet{}
	deployments, err := c.client.AppsV1().Deployments("").List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	for _, d := range deployments.Items {
		uids[d.UID] = true
	}
	for _, set := range c.replicaSets("") {
		uids[set.UID], sets[set.UID] = true, set
		if owner := metav1.GetControllerOf(&set); owner != nil && !uids[owner.UID] {
			c.Errorf("ReplicaSet %s has an owner that is gone", set.Name)
		}
	}
	nodes := c.nodeNames()
	for _, pod := range c.pods("") {
		if pod.Spec.NodeName != "" && !nodes[pod.Spec.NodeName] {
			c.Errorf("pod %s is on %s, which does not exist", pod.Name, pod.Spec.NodeName)
		}
		owner := metav1.GetControllerOf(&pod)
		if owner == nil || owner.Kind != "ReplicaSet" {
			continue
		}
		set, found := sets[owner.UID]
		if !found {
			c.Errorf("pod %s has an owner that is gone", pod.Name)
			continue
		}
		if selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector); err != nil || !selector.Matches(labels.Set(pod.Labels)) {
			c.Errorf("pod %s does not match its ReplicaSet", pod.Name)
		}
	}
}

func (c *cluster) nodeNames() map[string]bool {
	c.Helper()
	list, err := c.client.CoreV1().Nodes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	names := map[string]bool{}
	for _, node := range list.Items {
		names[node.Name] = true
	}
	return names
}
