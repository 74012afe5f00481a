package children

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// NewPod makes a pod of an owner's template; the server completes its name.
func NewPod(template *corev1.PodTemplateSpec, owner Owner) *corev1.Pod {
	meta := template.ObjectMeta.DeepCopy()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       owner.GetNamespace(),
			GenerateName:    namePrefix(owner.GetName()),
			Labels:          meta.Labels,
			Annotations:     meta.Annotations,
			Finalizers:      meta.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.Kind)},
		},
		Spec: *template.Spec.DeepCopy(),
	}
}

// namePrefix ends in a dash unless that would be too long.
func namePrefix(owner string) string {
	if len(owner)+1 <= validation.DNS1123SubdomainMaxLength {
		return owner + "-"
	}
	return owner
}

// Ready tells whether a pod serves.
func Ready(pod *corev1.Pod) bool { return readyCondition(pod) != nil }

// ReadySince is when a pod that is ready became so; zero for others.
func ReadySince(pod *corev1.Pod) time.Time {
	if condition := readyCondition(pod); condition != nil {
		return condition.LastTransitionTime.Time
	}
	return time.Time{}
}

func readyCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return condition
		}
	}
	return nil
}

// AvailableIn is how long a pod still has to stay ready to count as available:
// zero when it does, false when it is not ready.
func AvailableIn(pod *corev1.Pod, minReadySeconds int32, now time.Time) (time.Duration, bool) {
	condition := readyCondition(pod)
	if condition == nil {
		return 0, false
	}
	if minReadySeconds == 0 {
		return 0, true
	}
	if condition.LastTransitionTime.IsZero() {
		return time.Duration(minReadySeconds) * time.Second, true
	}
	left := condition.LastTransitionTime.Add(time.Duration(minReadySeconds) * time.Second).Sub(now)
	return max(left, 0), true
}
