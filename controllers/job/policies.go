package job

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// ruling is what a podFailurePolicy says about a failed pod.
type ruling struct {
	action  batchv1.PodFailurePolicyAction // "" when no rule matches
	counts  bool                           // as a failure
	message string                         // why the whole Job fails
}

// rule applies the first rule of a policy that matches.
func rule(policy *batchv1.PodFailurePolicy, pod *corev1.Pod) ruling {
	if policy == nil {
		return ruling{counts: true}
	}
	for i := range policy.Rules {
		r := &policy.Rules[i]
		var message string
		if r.OnExitCodes != nil {
			status := exitedWith(&pod.Status, r.OnExitCodes)
			if status == nil {
				continue
			}
			message = fmt.Sprintf("Container %s for pod %s/%s failed with exit code %v matching %v rule at index %d",
				status.Name, pod.Namespace, pod.Name, status.State.Terminated.ExitCode, r.Action, i)
		} else {
			condition := matchingCondition(&pod.Status, r.OnPodConditions)
			if condition == nil {
				continue
			}
			message = fmt.Sprintf("Pod %s/%s has condition %v matching %v rule at index %d", pod.Namespace, pod.Name, condition.Type, r.Action, i)
		}
		if r.Action != batchv1.PodFailurePolicyActionFailJob {
			message = ""
		}
		return ruling{r.Action, r.Action != batchv1.PodFailurePolicyActionIgnore, message}
	}
	return ruling{counts: true}
}

// exitedWith returns a container that failed with one of the codes, nil if none did.
func exitedWith(status *corev1.PodStatus, codes *batchv1.PodFailurePolicyOnExitCodesRequirement) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{status.ContainerStatuses, status.InitContainerStatuses} {
		for i := range statuses {
			ended := statuses[i].State.Terminated
			if ended == nil || ended.ExitCode == 0 || codes.ContainerName != nil && *codes.ContainerName != statuses[i].Name {
				continue
			}
			if slices.Contains(codes.Values, ended.ExitCode) == (codes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
				return &statuses[i]
			}
		}
	}
	return nil
}

func matchingCondition(status *corev1.PodStatus, patterns []batchv1.PodFailurePolicyOnPodConditionsPattern) *corev1.PodCondition {
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		if slices.ContainsFunc(patterns, func(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
			return p.Type == condition.Type && p.Status == condition.Status
		}) {
			return condition
		}
	}
	return nil
}

// succeedsBy returns the index of the first rule of a successPolicy that the
// succeeded indexes meet, -1 if they meet none.
func succeedsBy(policy *batchv1.SuccessPolicy, completions int, succeeded indexes) int {
	if policy == nil || len(succeeded) == 0 {
		return -1
	}
	return slices.IndexFunc(policy.Rules, func(r batchv1.SuccessPolicyRule) bool {
		if r.SucceededIndexes == nil {
			return r.SucceededCount != nil && succeeded.total() >= int(*r.SucceededCount)
		}
		required := parseIndexes(*r.SucceededIndexes, completions)
		need := required.total()
		if r.SucceededCount != nil {
			need = int(*r.SucceededCount)
		}
		return len(required) > 0 && required.common(succeeded) >= need
	})
}
