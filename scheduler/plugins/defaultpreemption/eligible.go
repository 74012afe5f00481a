package defaultpreemption

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Eligible returns why the pod may not preempt others, "" if it may. nominated
// is the node that it was promised before, nil if none, with the filters'
// verdict on it.
func Eligible(pod *framework.PodInfo, nominated *framework.NodeInfo, verdict *framework.Status) string {
	if policy := pod.Pod.Spec.PreemptionPolicy; policy != nil && *policy == v1.PreemptNever {
		return "not eligible due to preemptionPolicy=Never."
	}
	if nominated == nil {
		return ""
	}
	if verdict != nil && verdict.Code == framework.UnschedulableAndUnresolvable {
		return "" // that promise is void
	}
	for _, p := range nominated.Pods {
		if p.Priority < pod.Priority && endsByPreemption(p.Pod) {
			return "not eligible due to a terminating pod on the nominated node."
		}
	}
	return ""
}

func endsByPreemption(pod *v1.Pod) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.DisruptionTarget {
			return c.Status == v1.ConditionTrue && c.Reason == v1.PodReasonPreemptionByScheduler
		}
	}
	return false
}
