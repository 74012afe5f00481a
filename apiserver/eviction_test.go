package apiserver_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// A pod in each phase meets a budget in each state.
func TestEviction(t *testing.T) {
	always := policyv1.AlwaysAllow
	running := corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	unready := corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}}
	tests := map[string]struct {
		pod    corev1.PodStatus
		budget policyv1.PodDisruptionBudgetStatus
		policy *policyv1.UnhealthyPodEvictionPolicyType
		cause  string // of the refusal, "" for an eviction
		retry  int32
		left   int32 // disruptions allowed afterwards
	}{
		"allowed":          {pod: running, budget: status(1, 3, 1, 2), left: 1},
		"last one":         {pod: running, budget: status(1, 2, 1, 1), left: 0},
		"exhausted":        {pod: running, budget: status(1, 1, 1, 0), cause: "needs 1 healthy pods and has 1 currently"},
		"enough, but none": {pod: running, budget: status(1, 2, 1, 0), cause: "does not allow evicting pods currently"},
		"not looked at":    {pod: running, budget: status(0, 3, 1, 2), cause: "is still being processed by the server.", retry: 10, left: 2},
		"pending pod":      {pod: corev1.PodStatus{Phase: corev1.PodPending}, budget: status(1, 0, 1, 0)},
		"ended pod":        {pod: corev1.PodStatus{Phase: corev1.PodFailed}, budget: status(1, 0, 1, 0)},
		"unready, healthy": {pod: unready, budget: status(1, 2, 2, 0)},
		"unready, not":     {pod: unready, budget: status(1, 1, 2, 0), cause: "needs 2 healthy pods and has 1 currently"},
		"unready, always":  {pod: unready, budget: status(1, 1, 2, 0), policy: &always},
	}
	client := newClient(t, startServer(t))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ns := strings.NewReplacer(" ", "-", ",", "").Replace(name)
			prepareEviction(t, client, ns, test.pod, test.budget, test.policy)
			err := client.CoreV1().RESTClient().Post().MaxRetries(0). // which it else does as often as the answer says
											Namespace(ns).Resource("pods").Name("p").SubResource("eviction").
											Body(&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: ns}}).Do(t.Context()).Error()
			checkEviction(t, err, test.cause, test.retry)
			pdb, getErr := client.PolicyV1().PodDisruptionBudgets(ns).Get(t.Context(), "b", metav1.GetOptions{})
			if getErr != nil {
				t.Fatal(getErr)
			}
			if got := pdb.Status.DisruptionsAllowed; got != test.left {
				t.Errorf("the budget has %d left, want %d", got, test.left)
			}
			checkEvictedPod(t, client, ns, err == nil)
		})
	}
}

func status(observed int64, healthy, desired, allowed int32) policyv1.PodDisruptionBudgetStatus {
	return policyv1.PodDisruptionBudgetStatus{ObservedGeneration: observed, CurrentHealthy: healthy, DesiredHealthy: desired, DisruptionsAllowed: allowed, ExpectedPods: healthy}
}

// prepareEviction makes a pod on a node and a budget over it.
func prepareEviction(t *testing.T, client kubernetes.Interface, ns string, pod corev1.PodStatus, budget policyv1.PodDisruptionBudgetStatus, policy *policyv1.UnhealthyPodEvictionPolicyType) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
	check(err)
	labels := map[string]string{"app": "x"}
	p, err := client.CoreV1().Pods(ns).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: labels},
		Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "nginx"}}},
	}, metav1.CreateOptions{})
	check(err)
	p.Status = pod
	_, err = client.CoreV1().Pods(ns).UpdateStatus(ctx, p, metav1.UpdateOptions{})
	check(err)
	b, err := client.PolicyV1().PodDisruptionBudgets(ns).Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "b"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, UnhealthyPodEvictionPolicy: policy},
	}, metav1.CreateOptions{})
	check(err)
	b.Status = budget
	_, err = client.PolicyV1().PodDisruptionBudgets(ns).UpdateStatus(ctx, b, metav1.UpdateOptions{})
	check(err)
}

func checkEviction(t *testing.T, err error, cause string, retry int32) {
	t.Helper()
	if cause == "" {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if !apierrors.IsTooManyRequests(err) {
		t.Fatalf("got %v, want 429", err)
	}
	status := err.(apierrors.APIStatus).Status()
	got, _ := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause)
	if got.Message != "The disruption budget b "+cause || status.Details.RetryAfterSeconds != retry {
		t.Errorf("got cause %q, retry after %d s; want %q, %d s", got.Message, status.Details.RetryAfterSeconds, cause, retry)
	}
}

// checkEvictedPod looks for the condition that tells why a pod goes.
func checkEvictedPod(t *testing.T, client kubernetes.Interface, ns string, evicted bool) {
	t.Helper()
	pod, err := client.CoreV1().Pods(ns).Get(context.Background(), "p", metav1.GetOptions{})
	if apierrors.IsNotFound(err) && evicted {
		return // it had no grace
	}
	if err != nil {
		t.Fatal(err)
	}
	told := false
	for _, c := range pod.Status.Conditions {
		told = told || c.Type == corev1.DisruptionTarget && c.Reason == "EvictionByEvictionAPI"
	}
	if told != evicted || (pod.DeletionTimestamp != nil) != evicted {
		t.Errorf("evicted: %t, but conditions are %v, deletion at %v", evicted, pod.Status.Conditions, pod.DeletionTimestamp)
	}
}

// A dry run of an eviction spends nothing and deletes nothing, wherever it is asked for.
func TestEvictionDryRun(t *testing.T) {
	client := newClient(t, startServer(t))
	pod := corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	prepareEviction(t, client, "dry", pod, status(1, 2, 1, 1), nil)
	all := []string{metav1.DryRunAll}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "dry"}, DeleteOptions: &metav1.DeleteOptions{DryRun: all}}
	if err := client.PolicyV1().Evictions("dry").Evict(t.Context(), eviction); err != nil {
		t.Fatal(err)
	}
	pdb, err := client.PolicyV1().PodDisruptionBudgets("dry").Get(t.Context(), "b", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pdb.Status.DisruptionsAllowed != 1 || len(pdb.Status.DisruptedPods) > 0 {
		t.Errorf("the budget was spent: %+v", pdb.Status)
	}
	checkEvictedPod(t, client, "dry", false)
}
