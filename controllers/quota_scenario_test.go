package controllers_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/sandbox"
)

func (c *cluster) newQuota(hard map[corev1.ResourceName]string) {
	c.Helper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{}}}
	for name, value := range hard {
		quota.Spec.Hard[name] = resource.MustParse(value)
	}
	must(c.T)(c.client.CoreV1().ResourceQuotas("default").Create(c.Context(), quota, metav1.CreateOptions{}))
	c.settle(time.Second)
}

func (c *cluster) used(name corev1.ResourceName) string {
	c.Helper()
	quota, err := c.client.CoreV1().ResourceQuotas("default").Get(c.Context(), "q", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	quantity, found := quota.Status.Used[name]
	if !found {
		return "unknown"
	}
	return quantity.String()
}

// TestQuotaBlockedReplicaSet: five of 500 pods fit, until the quota is raised.
func TestQuotaBlockedReplicaSet(t *testing.T) {
	inCluster(t, sandbox.Config{Nodes: 5}, func(c *cluster) {
		c.newQuota(map[corev1.ResourceName]string{"pods": "5"})
		d := web(500)
		set := &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec:       appsv1.ReplicaSetSpec{Replicas: d.Spec.Replicas, Selector: d.Spec.Selector, Template: d.Spec.Template},
		}
		must(t)(c.client.AppsV1().ReplicaSets("default").Create(c.Context(), set, metav1.CreateOptions{}))
		c.settle(time.Minute)
		if pods := len(c.pods("default")); pods != 5 || c.used("pods") != "5" {
			t.Fatalf("%d pods, the quota counts %s; want 5", pods, c.used("pods"))
		}
		blocked := c.replicaSets("default")[0].Status
		if len(blocked.Conditions) != 1 || blocked.Conditions[0].Reason != "FailedCreate" {
			t.Errorf("status %+v", blocked)
		}
		must(t)(c.client.CoreV1().ResourceQuotas("default").Patch(c.Context(), "q", "application/merge-patch+json", []byte(`{"spec":{"hard":{"pods":"600"}}}`), metav1.PatchOptions{}))
		c.settle(time.Minute)
		if pods := len(c.pods("default")); pods != 500 || c.used("pods") != "500" {
			t.Errorf("%d pods, the quota counts %s; want 500", pods, c.used("pods"))
		}
	})
}

// TestQuotaIsNotOvershot has fifty requests compete for ten places, twice: the
// second time while the places are being freed.
func TestQuotaIsNotOvershot(t *testing.T) {
	inCluster(t, sandbox.Config{}, func(c *cluster) {
		c.newQuota(map[corev1.ResourceName]string{"configmaps": "11"}) // one is the cluster's own
		compete := func(round string) int {
			var created atomic.Int32
			var requests sync.WaitGroup
			for i := range 50 {
				requests.Go(func() {
					object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", round, i), Labels: map[string]string{"round": round}}}
					if _, err := c.client.CoreV1().ConfigMaps("default").Create(c.Context(), object, metav1.CreateOptions{}); err == nil {
						created.Add(1)
					}
				})
			}
			requests.Wait()
			return int(created.Load())
		}
		if n := compete("first"); n != 10 {
			t.Errorf("%d were created, want 10", n)
		}
		c.settle(time.Second)
		if used := c.used("configmaps"); used != "11" {
			t.Errorf("the quota counts %s, want 11", used)
		}
		if err := c.client.CoreV1().ConfigMaps("default").DeleteCollection(c.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "round=first"}); err != nil {
			t.Fatal(err)
		}
		created := 0
		for round := range 30 {
			time.Sleep(50 * time.Millisecond)
			created += compete(fmt.Sprint(round))
		}
		if created != 10 {
			t.Errorf("%d were created once there was room again, want 10", created)
		}
		c.settle(time.Second)
		if used := c.used("configmaps"); used != "11" {
			t.Errorf("in the end the quota counts %s, want 11", used)
		}
	})
}

func TestQuotaCounts(t *testing.T) {
	inCluster(t, sandbox.Config{Nodes: 1}, func(c *cluster) {
		c.newQuota(map[corev1.ResourceName]string{"pods": "9", "requests.cpu": "2", "count/replicasets.apps": "3", "count/pods": "9", "count/nothings.example.com": "1"})
		d := web(2)
		d.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("250m")}
		c.create(d)
		c.waitRolledOut("web")
		c.settle(time.Second)
		for name, want := range map[corev1.ResourceName]string{"pods": "2", "requests.cpu": "500m", "count/replicasets.apps": "1", "count/pods": "2", "count/nothings.example.com": "unknown"} {
			if used := c.used(name); used != want {
				t.Errorf("%s: %s, want %s", name, used, want)
			}
		}
		pods := c.pods("default")
		must(t)(c.client.CoreV1().Pods("default").Patch(c.Context(), pods[0].Name, "application/merge-patch+json", []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status"))
		c.settle(time.Minute)
		if pods, objects := c.used("pods"), c.used("count/pods"); pods != "2" || objects != "3" {
			t.Errorf("with a finished pod: %s pods and %s objects, want 2 and 3", pods, objects)
		}
		policy := metav1.DeletePropagationForeground
		must(t)(nil, c.client.AppsV1().Deployments("default").Delete(c.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &policy}))
		c.settle(time.Minute)
		for _, name := range []corev1.ResourceName{"pods", "requests.cpu", "count/replicasets.apps", "count/pods"} {
			if used := c.used(name); used != "0" {
				t.Errorf("%s: %s, want 0", name, used)
			}
		}
	})
}
