package controllers_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDeploymentAdoptsItsTemplate(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		d := web(2)
		older := &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "older", Labels: d.Spec.Selector.MatchLabels},
			Spec:       appsv1.ReplicaSetSpec{Replicas: d.Spec.Replicas, Selector: d.Spec.Selector, Template: d.Spec.Template},
		}
		must(t)(c.client.AppsV1().ReplicaSets("default").Create(c.Context(), older, metav1.CreateOptions{}))
		c.settle(time.Minute)
		created := c.create(d)
		c.waitRolledOut("web")
		sets := c.replicaSets("default")
		if len(sets) != 1 || sets[0].Name != "older" || !metav1.IsControlledBy(&sets[0], created) {
			t.Fatalf("ReplicaSets are %v", sets)
		}
		if sets[0].Labels["pod-template-hash"] != "" || sets[0].Annotations["deployment.kubernetes.io/revision"] != "1" {
			t.Errorf("it was made %+v", sets[0].ObjectMeta)
		}
	})
}

func TestPausedDeploymentScalesButDoesNotRoll(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		c.create(web(2))
		c.waitRolledOut("web")
		c.patch("web", `{"spec":{"paused":true,"replicas":4,"template":{"spec":{"containers":[{"name":"c","image":"nginx:1.28"}]}}}}`)
		c.settle(time.Minute)
		if sets := c.replicaSets("default"); len(sets) != 1 || *sets[0].Spec.Replicas != 4 {
			t.Errorf("paused with %d ReplicaSets, the first of %d replicas; want 1 of 4", len(sets), *sets[0].Spec.Replicas)
		}
		if reason := c.progressing("web"); reason != "DeploymentPaused" {
			t.Errorf("paused for reason %s", reason)
		}
		c.patch("web", `{"spec":{"paused":false}}`)
		c.waitRolledOut("web")
		c.settle(time.Second)
		if reason := c.progressing("web"); reason != "NewReplicaSetAvailable" {
			t.Errorf("resumed and rolled out, for reason %s", reason)
		}
	})
}

// progressing is the reason of the Progressing condition.
func (c *cluster) progressing(name string) string {
	c.Helper()
	for _, condition := range c.deployment(name).Status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing {
			return condition.Reason
		}
	}
	return ""
}

func TestHistoryLimit(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		d, limit := web(1), int32(1)
		d.Spec.RevisionHistoryLimit = &limit
		c.create(d)
		c.waitRolledOut("web") // or the controller may not see it before the first change
		for version := range 4 {
			c.patch("web", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"nginx:%d"}]}}}}`, version))
			c.waitRolledOut("web")
			c.settle(time.Minute)
		}
		revisions := map[string]bool{}
		for _, set := range c.replicaSets("default") {
			revisions[set.Annotations["deployment.kubernetes.io/revision"]] = true
		}
		if len(revisions) != 2 || !revisions["5"] || !revisions["4"] {
			t.Errorf("revisions %v are left, want 4 and 5", revisions)
		}
	})
}

func TestMinReadySecondsDelaysAvailability(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		d := web(2)
		d.Spec.MinReadySeconds = 30
		began := time.Now()
		c.create(d)
		c.settle(20 * time.Second)
		if s := c.deployment("web").Status; s.ReadyReplicas != 2 || s.AvailableReplicas != 0 {
			t.Errorf("after 20 s: %+v", s)
		}
		c.waitRolledOut("web")
		if took := time.Since(began); took < 30*time.Second || took > 40*time.Second {
			t.Errorf("available after %v", took)
		}
	})
}

// TestEventsAreAggregated counts what a ReplicaSet that cannot create pods tells.
func TestEventsAreAggregated(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		d := web(500)
		d.Spec.Template.Spec.ServiceAccountName = "nobody"
		c.create(d)
		c.settle(time.Minute)
		list, err := c.client.CoreV1().Events("default").List(c.Context(), metav1.ListOptions{FieldSelector: "reason=FailedCreate"})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(list.Items); n != 1 || list.Items[0].Count < 5 || list.Items[0].Count > 50 {
			t.Errorf("%d events %+v", n, list.Items)
		}
		failed := false
		for _, condition := range c.deployment("web").Status.Conditions {
			failed = failed || condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue && condition.Reason == "FailedCreate"
		}
		if !failed {
			t.Errorf("the Deployment's status does not tell: %+v", c.deployment("web").Status)
		}
	})
}
