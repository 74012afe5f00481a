package disruption

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubesim/kubesim/controllers/children"
)

// deletionTimeout is how long after its eviction was granted a pod may stay.
const deletionTimeout = 2 * time.Minute

// bounds are how many pods there should be, and how many healthy ones at least.
type bounds struct{ expected, healthy int32 }

// want works out a budget's bounds. expected is asked for the replicas of the
// pods' controllers, where the budget depends on them.
func want(budget *policyv1.PodDisruptionBudget, pods int, expected func() (int32, error)) (bounds, error) {
	spec := budget.Spec
	if spec.MaxUnavailable == nil && spec.MinAvailable == nil {
		return bounds{}, nil
	}
	if spec.MaxUnavailable == nil && spec.MinAvailable.Type == intstr.Int {
		return bounds{expected: int32(pods), healthy: spec.MinAvailable.IntVal}, nil
	}
	n, err := expected()
	if err != nil {
		return bounds{}, err
	}
	limit := spec.MaxUnavailable
	if limit == nil {
		limit = spec.MinAvailable
	}
	scaled, err := intstr.GetScaledValueFromIntOrPercent(limit, int(n), true)
	if err != nil {
		return bounds{}, err
	}
	if spec.MaxUnavailable == nil {
		return bounds{expected: n, healthy: int32(scaled)}, nil
	}
	return bounds{expected: n, healthy: max(n-int32(scaled), 0)}, nil
}

// granted are the evictions that have not led to a deletion yet, those whose
// time is over apart, and how long to wait for the next to be so.
func granted(budget *policyv1.PodDisruptionBudget, pods []*corev1.Pod, now time.Time) (pending map[string]metav1.Time, late []*corev1.Pod, wait time.Duration) {
	for _, pod := range pods {
		at, found := budget.Status.DisruptedPods[pod.Name]
		if !found || pod.DeletionTimestamp != nil {
			continue
		}
		left := at.Add(deletionTimeout).Sub(now)
		if left < 0 {
			late = append(late, pod)
			continue
		}
		if pending == nil {
			pending = map[string]metav1.Time{}
		}
		pending[pod.Name] = at
		if wait == 0 || left < wait {
			wait = left
		}
	}
	return pending, late, wait
}

// healthy counts the pods that are ready and stay.
func healthy(pods []*corev1.Pod, pending map[string]metav1.Time) int32 {
	n := int32(0)
	for _, pod := range pods {
		if _, going := pending[pod.Name]; !going && pod.DeletionTimestamp == nil && children.Ready(pod) {
			n++
		}
	}
	return n
}

// newStatus is what a budget allows.
func newStatus(budget *policyv1.PodDisruptionBudget, b bounds, current int32, pending map[string]metav1.Time, now time.Time) policyv1.PodDisruptionBudgetStatus {
	status := *budget.Status.DeepCopy()
	status.ObservedGeneration, status.DisruptedPods = budget.Generation, pending
	status.CurrentHealthy, status.DesiredHealthy, status.ExpectedPods = current, b.healthy, b.expected
	status.DisruptionsAllowed = 0
	if b.expected > 0 {
		status.DisruptionsAllowed = max(current-b.healthy, 0)
	}
	if status.DisruptionsAllowed > 0 {
		setCondition(&status, metav1.ConditionTrue, policyv1.SufficientPodsReason, "", now)
	} else {
		setCondition(&status, metav1.ConditionFalse, policyv1.InsufficientPodsReason, "", now)
	}
	return status
}

// failed is the status of a budget that can't be worked out.
func failed(budget *policyv1.PodDisruptionBudget, err error, now time.Time) policyv1.PodDisruptionBudgetStatus {
	status := *budget.Status.DeepCopy()
	status.DisruptionsAllowed, status.ObservedGeneration = 0, budget.Generation
	setCondition(&status, metav1.ConditionFalse, policyv1.SyncFailedReason, err.Error(), now)
	return status
}

func setCondition(status *policyv1.PodDisruptionBudgetStatus, value metav1.ConditionStatus, reason, message string, now time.Time) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: policyv1.DisruptionAllowedCondition, Status: value, Reason: reason, Message: message,
		ObservedGeneration: status.ObservedGeneration, LastTransitionTime: metav1.NewTime(now).Rfc3339Copy(),
	})
}

// total adds up the replicas that the pods' controllers want, each counted once
// (a Deployment may have several ReplicaSets), and names the pods that have none.
func total(pods []*corev1.Pod, find func(metav1.OwnerReference) (*scaled, error)) (sum int32, unmanaged []string, err error) {
	asked, counted := map[types.UID]bool{}, map[types.UID]bool{}
	for _, pod := range pods {
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner == nil {
			unmanaged = append(unmanaged, pod.Name)
			continue
		}
		if asked[owner.UID] {
			continue
		}
		asked[owner.UID] = true
		found, err := find(*owner)
		if err != nil {
			return 0, unmanaged, err
		}
		if found == nil {
			return 0, unmanaged, fmt.Errorf("found no controllers for pod %q", pod.Name)
		}
		if !counted[found.uid] {
			counted[found.uid] = true
			sum += found.replicas
		}
	}
	return sum, unmanaged, nil
}
