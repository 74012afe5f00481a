package controllers_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func (c *cluster) newBudget(maxUnavailable int32) {
	c.Helper()
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "b"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.FromInt32(maxUnavailable)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
	must(c.T)(c.client.PolicyV1().PodDisruptionBudgets("default").Create(c.Context(), budget, metav1.CreateOptions{}))
	c.settle(time.Second)
}

func (c *cluster) budget() policyv1.PodDisruptionBudgetStatus {
	c.Helper()
	budget, err := c.client.PolicyV1().PodDisruptionBudgets("default").Get(c.Context(), "b", metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return budget.Status
}

// TestParallelEvictionsKeepTheBudget has all ten pods evicted at once, again
// and again, as drains do.
func TestParallelEvictionsKeepTheBudget(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		c.create(web(10))
		c.waitRolledOut("web")
		c.newBudget(2)
		if s := c.budget(); s.DisruptionsAllowed != 2 || s.ExpectedPods != 10 || s.DesiredHealthy != 8 || s.CurrentHealthy != 10 {
			t.Fatalf("status %+v", s)
		}
		for range 5 {
			var granted atomic.Int32
			var evictions sync.WaitGroup
			for _, pod := range c.pods("default") {
				evictions.Go(func() {
					eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}}
					if err := c.client.PolicyV1().Evictions("default").Evict(c.Context(), eviction); err == nil {
						granted.Add(1)
					} else if !apierrors.IsTooManyRequests(err) {
						t.Errorf("evicting: %v", err)
					}
				})
			}
			evictions.Wait()
			if n := granted.Load(); n != 2 {
				t.Errorf("%d evictions were granted at once, want 2", n)
			}
			c.settle(5 * time.Minute)
			if s := c.budget(); s.DisruptionsAllowed != 2 || len(s.DisruptedPods) != 0 {
				t.Errorf("afterwards: %+v", s)
			}
		}
	})
}

func TestDisruptionThatDoesNotCome(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		c.create(web(1))
		c.waitRolledOut("web")
		pod := c.pods("default")[0].Name
		condition := `{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI","lastTransitionTime":"` + time.Now().UTC().Format(time.RFC3339) + `"}]}}`
		must(t)(c.client.CoreV1().Pods("default").Patch(c.Context(), pod, "application/strategic-merge-patch+json", []byte(condition), metav1.PatchOptions{}, "status"))
		c.settle(time.Minute)
		if got := c.condition(pod, corev1.DisruptionTarget); got != "True EvictionByEvictionAPI" {
			t.Errorf("after a minute: %s", got)
		}
		c.settle(2 * time.Minute)
		if got := c.condition(pod, corev1.DisruptionTarget); got != "False " {
			t.Errorf("after three minutes: %s", got)
		}
	})
}
