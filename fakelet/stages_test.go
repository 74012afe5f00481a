package fakelet_test

import (
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubesim/kubesim/fakelet/stage"
)

// inStages runs a test in virtual time, in a cluster with the Stages of testdata.
func inStages(t *testing.T, nodes int, test func(c *cluster)) {
	t.Helper()
	data, err := os.ReadFile("testdata/stages.yaml")
	if err != nil {
		t.Fatal(err)
	}
	stages, err := stage.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	inCluster(t, nodes, func(c *cluster) {
		c.halt()
		c.stages = stages
		c.start()
		test(c)
	})
}

func (c *cluster) createLabelled(name string, labels map[string]string) {
	c.Helper()
	_, err := c.client.CoreV1().Pods("default").Create(c.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
}

func TestStagesPlayThePodsThatTheySelect(t *testing.T) {
	inStages(t, 1, func(c *cluster) {
		c.createLabelled("staged", map[string]string{"staged": "true"})
		c.createLabelled("failing", map[string]string{"staged": "true", "fails": "3s"})
		c.createLabelled("other", nil)
		time.Sleep(time.Second)
		if pod := c.pod("staged"); pod.Status.PodIP != "" || pod.Status.Phase != corev1.PodPending {
			t.Errorf("before its time: %+v", pod.Status)
		}
		if pod := c.pod("other"); !ready(pod.Status.Conditions) || pod.Status.ContainerStatuses[0].ContainerID == "" {
			t.Errorf("the other pod: %+v", pod.Status)
		}
		time.Sleep(1500 * time.Millisecond)
		pod := c.pod("staged")
		if pod.Status.Phase != corev1.PodRunning || !ready(pod.Status.Conditions) || pod.Status.PodIP == "" || len(pod.Status.PodIPs) != 1 ||
			!slices.Equal(pod.Finalizers, []string{"example.com/staged"}) {
			t.Errorf("after 2.5 s: %v %+v", pod.Finalizers, pod.Status)
		}
		if events, err := c.client.CoreV1().Events("default").List(c.Context(), metav1.ListOptions{FieldSelector: "reason=Staged"}); err != nil || len(events.Items) != 2 {
			t.Errorf("events %+v, %v", events, err)
		}

		time.Sleep(3 * time.Second)
		if failed := c.pod("failing"); failed.Status.Phase != corev1.PodFailed || failed.Status.Reason != "Chaos" {
			t.Errorf("after 5.5 s: %+v", failed.Status)
		}
		if now := c.pod("staged"); now.ResourceVersion != pod.ResourceVersion {
			t.Errorf("it is left alone while no stage matches: %+v", now)
		}
		c.halt()
		c.start()
		time.Sleep(time.Minute)
		if now := c.pod("staged"); now.ResourceVersion != pod.ResourceVersion {
			t.Errorf("after a restart: %+v", now)
		}

		c.delete("staged")
		c.delete("failing")
		time.Sleep(time.Second)
		for _, name := range []string{"staged", "failing"} {
			if _, err := c.client.CoreV1().Pods("default").Get(c.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("%s is still there: %v", name, err)
			}
		}
	})
}

func TestStagesPlayTheNodesThatTheySelect(t *testing.T) {
	inStages(t, 2, func(c *cluster) {
		_, err := c.client.CoreV1().Nodes().Patch(c.Context(), "node-2", types.MergePatchType, []byte(`{"metadata":{"labels":{"broken":"true"}}}`), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		for name, want := range map[string]corev1.ConditionStatus{"node-1": corev1.ConditionTrue, "node-2": corev1.ConditionFalse} {
			conditions := c.node(name).Status.Conditions
			at := slices.IndexFunc(conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
			if conditions[at].Status != want {
				t.Errorf("%s: %+v", name, conditions[at])
			}
			lease, err := c.client.CoordinationV1().Leases("kube-node-lease").Get(c.Context(), name, metav1.GetOptions{})
			if err != nil || time.Since(lease.Spec.RenewTime.Time) > 11*time.Second {
				t.Errorf("Lease of %s: %+v, %v", name, lease, err)
			}
		}
	})
}
