package controllers_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/sandbox"
)

var three = sandbox.Config{Nodes: 3}

func TestRollingUpdateKeepsItsBounds(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		c.create(web(5))
		c.waitRolledOut("web")
		watch, err := c.client.AppsV1().Deployments("default").Watch(c.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c.patch("web", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"nginx:1.28"}]}}}}`)
		c.waitRolledOut("web")
		c.settle(time.Minute)
		watch.Stop()
		for event := range watch.ResultChan() {
			// 25 % of 5: surge 2, unavailable 1.
			if s := event.Object.(*appsv1.Deployment).Status; s.Replicas > 7 || s.AvailableReplicas < 4 {
				t.Errorf("%d pods of which %d are available", s.Replicas, s.AvailableReplicas)
			}
		}
		if sets := c.replicaSets("default"); len(sets) != 2 {
			t.Errorf("%d ReplicaSets, want the new and the old one", len(sets))
		}
		if pods := c.pods("default"); len(pods) != 5 {
			t.Errorf("%d pods, want 5", len(pods))
		}
	})
}

func TestStuckRolloutTimesOutAndIsUndone(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		c.create(web(3))
		c.waitRolledOut("web")
		// Nobody schedules the new pod.
		c.patch("web", `{"spec":{"template":{"spec":{"schedulerName":"nobody"}}}}`)
		c.eventually("the rollout is too slow", func() bool {
			for _, condition := range c.deployment("web").Status.Conditions {
				if condition.Reason == "ProgressDeadlineExceeded" {
					return condition.Status == corev1.ConditionFalse
				}
			}
			return false
		})
		if s := c.deployment("web").Status; s.AvailableReplicas != 3 || s.UpdatedReplicas != 1 {
			t.Errorf("stuck with %+v", s)
		}
		c.patch("web", `{"spec":{"template":{"spec":{"schedulerName":"default-scheduler"}}}}`)
		c.waitRolledOut("web")
		c.settle(time.Minute)
		if d := c.deployment("web"); d.Annotations["deployment.kubernetes.io/revision"] != "3" {
			t.Errorf("annotations %v, want revision 3", d.Annotations)
		}
	})
}

func TestRecreateNeverMixesTemplates(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		d := web(3)
		d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		c.create(d)
		c.waitRolledOut("web")
		watch, err := c.client.CoreV1().Pods("default").Watch(c.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c.patch("web", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"nginx:1.28"}]}}}}`)
		c.waitRolledOut("web")
		watch.Stop()
		images := map[string]string{}
		for event := range watch.ResultChan() {
			pod := event.Object.(*corev1.Pod)
			images[pod.Name] = pod.Spec.Containers[0].Image
			if event.Type == "DELETED" {
				delete(images, pod.Name)
			}
			for _, image := range images {
				if image != pod.Spec.Containers[0].Image && event.Type == "ADDED" {
					t.Fatalf("pods of both templates: %v", images)
				}
			}
		}
	})
}

func TestDeletion(t *testing.T) {
	for _, test := range []struct {
		policy metav1.DeletionPropagation
		left   int
	}{
		{metav1.DeletePropagationBackground, 0},
		{metav1.DeletePropagationForeground, 0},
		{metav1.DeletePropagationOrphan, 3},
	} {
		t.Run(string(test.policy), func(t *testing.T) {
			inCluster(t, three, func(c *cluster) {
				c.create(web(3))
				c.waitRolledOut("web")
				if err := c.client.AppsV1().Deployments("default").Delete(c.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &test.policy}); err != nil {
					t.Fatal(err)
				}
				c.eventually("the Deployment is gone", func() bool {
					_, err := c.client.AppsV1().Deployments("default").Get(c.Context(), "web", metav1.GetOptions{})
					return apierrors.IsNotFound(err)
				})
				c.settle(2 * time.Minute)
				if pods := c.pods("default"); len(pods) != test.left {
					t.Errorf("%d pods are left, want %d", len(pods), test.left)
				}
			})
		})
	}
}

func TestNamespaceDeletion(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		namespaces, configMaps := c.client.CoreV1().Namespaces(), c.client.CoreV1().ConfigMaps("x")
		x := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
		must(t)(namespaces.Create(c.Context(), x, metav1.CreateOptions{}))
		c.settle(time.Second)
		d := web(3)
		d.Namespace = "x"
		c.create(d)
		held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/hold"}}}
		must(t)(configMaps.Create(c.Context(), held, metav1.CreateOptions{}))
		c.settle(time.Minute)
		if err := namespaces.Delete(c.Context(), "x", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.settle(5 * time.Minute)
		left, err := namespaces.Get(c.Context(), "x", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		messages := map[corev1.NamespaceConditionType]string{}
		for _, condition := range left.Status.Conditions {
			messages[condition.Type] = condition.Message
		}
		if got := messages[corev1.NamespaceFinalizersRemaining]; got != "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances" {
			t.Errorf("finalizers: %q", got)
		}
		if got := messages[corev1.NamespaceContentRemaining]; got != "Some resources are remaining: configmaps. has 1 resource instances" {
			t.Errorf("content: %q", got)
		}
		must(t)(configMaps.Patch(c.Context(), "held", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
		c.eventually("the namespace is gone", func() bool {
			_, err := namespaces.Get(c.Context(), "x", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
		must(t)(namespaces.Create(c.Context(), x, metav1.CreateOptions{}))
		c.settle(time.Second)
		must(t)(configMaps.Get(c.Context(), "kube-root-ca.crt", metav1.GetOptions{}))
		must(t)(c.client.CoreV1().ServiceAccounts("x").Get(c.Context(), "default", metav1.GetOptions{}))
	})
}

// must fails a test on the error of a request whose answer does not matter.
func must(t *testing.T) func(any, error) {
	return func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEndpointsFollowThePods(t *testing.T) {
	inCluster(t, three, func(c *cluster) {
		service := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}},
		}
		must(t)(c.client.CoreV1().Services("default").Create(c.Context(), service, metav1.CreateOptions{}))
		c.create(web(3))
		for _, replicas := range []int{3, 1, 0} {
			must(t)(c.client.AppsV1().Deployments("default").Patch(c.Context(), "web", "application/merge-patch+json",
				[]byte(`{"spec":{"replicas":`+string(rune('0'+replicas))+`}}`), metav1.PatchOptions{}))
			c.settle(2 * time.Minute)
			addresses := 0
			endpoints, err := c.client.CoreV1().Endpoints("default").Get(c.Context(), "web", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, subset := range endpoints.Subsets {
				addresses += len(subset.Addresses)
			}
			slices, err := c.client.DiscoveryV1().EndpointSlices("default").List(c.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=web"})
			if err != nil {
				t.Fatal(err)
			}
			if len(slices.Items) != 1 || len(slices.Items[0].Endpoints) != replicas || addresses != replicas {
				t.Errorf("%d replicas: %d addresses and slices %v", replicas, addresses, slices.Items)
			}
		}
	})
}
