package disruption

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func budgetOf(min, max *intstr.IntOrString) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: min, MaxUnavailable: max}}
}

func TestWant(t *testing.T) {
	n, percent := func(i int) *intstr.IntOrString { return ptr.To(intstr.FromInt32(int32(i))) }, func(s string) *intstr.IntOrString { return ptr.To(intstr.FromString(s)) }
	for name, test := range map[string]struct {
		min, max *intstr.IntOrString
		replicas int32
		pods     int
		want     bounds
	}{
		"minimum counts pods":        {min: n(2), replicas: 9, pods: 3, want: bounds{3, 2}},
		"minimum of a share":         {min: percent("50%"), replicas: 3, pods: 1, want: bounds{3, 2}},
		"maximum":                    {max: n(1), replicas: 3, want: bounds{3, 2}},
		"maximum above all":          {max: n(7), replicas: 3, want: bounds{3, 0}},
		"maximum of a share":         {max: percent("34%"), replicas: 3, want: bounds{3, 1}},
		"neither":                    {replicas: 3, want: bounds{}},
		"maximum of nothing managed": {max: n(1), replicas: 0, pods: 2, want: bounds{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := want(budgetOf(test.min, test.max), test.pods, func() (int32, error) { return test.replicas, nil })
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

func pod(name string, ready bool, owner string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if ready {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	if owner != "" {
		p.OwnerReferences = []metav1.OwnerReference{{Name: owner, UID: types.UID(owner), Controller: ptr.To(true)}}
	}
	return p
}

func TestNewStatus(t *testing.T) {
	now := time.Unix(10000, 0)
	pods := []*corev1.Pod{pod("a", true, ""), pod("b", true, ""), pod("c", false, ""), pod("d", true, ""), pod("e", true, "")}
	pods[3].DeletionTimestamp = &metav1.Time{Time: now}
	budget := budgetOf(nil, nil)
	budget.Generation = 4
	budget.Status.DisruptedPods = map[string]metav1.Time{
		"a": metav1.NewTime(now.Add(-time.Minute)), "d": metav1.NewTime(now), "e": metav1.NewTime(now.Add(-3 * time.Minute)), "gone": metav1.NewTime(now),
	}
	pending, late, wait := granted(budget, pods, now)
	if len(pending) != 1 || len(late) != 1 || late[0].Name != "e" || wait != time.Minute {
		t.Fatalf("pending %v, late %v, wait %v", pending, late, wait)
	}
	current := healthy(pods, pending) // b and e
	status := newStatus(budget, bounds{expected: 5, healthy: 1}, current, pending, now)
	if current != 2 || status.DisruptionsAllowed != 1 || status.ObservedGeneration != 4 || status.Conditions[0].Reason != policyv1.SufficientPodsReason {
		t.Errorf("status %+v", status)
	}
	if status := newStatus(budget, bounds{expected: 0, healthy: 0}, current, nil, now); status.DisruptionsAllowed != 0 || status.Conditions[0].Reason != policyv1.InsufficientPodsReason {
		t.Errorf("with no pods expected: %+v", status)
	}
	budget.Status = status
	if status := failed(budget, errors.New("no"), now); status.DisruptionsAllowed != 0 || status.Conditions[0].Message != "no" || status.Conditions[0].Reason != policyv1.SyncFailedReason {
		t.Errorf("failed: %+v", status)
	}
}

func TestTotal(t *testing.T) {
	find := func(owner metav1.OwnerReference) (*scaled, error) {
		return map[string]*scaled{"x": {"x", 3}, "old": {"deployment", 2}, "new": {"deployment", 2}}[owner.Name], nil
	}
	sum, unmanaged, err := total([]*corev1.Pod{pod("a", true, "x"), pod("b", true, "x"), pod("c", true, "old"), pod("d", true, ""), pod("e", true, "new")}, find)
	if sum != 5 || strings.Join(unmanaged, " ") != "d" || err != nil {
		t.Errorf("%d, %v, %v", sum, unmanaged, err)
	}
	if _, _, err := total([]*corev1.Pod{pod("a", true, "z")}, find); err == nil || err.Error() != `found no controllers for pod "a"` {
		t.Errorf("an owner that is gone: %v", err)
	}
}
