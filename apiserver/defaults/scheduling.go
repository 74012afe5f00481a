package defaults

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// PriorityClass lets its pods preempt others.
func PriorityClass(class *schedulingv1.PriorityClass) {
	setNil(&class.PreemptionPolicy, corev1.PreemptLowerPriority)
}

// RuntimeClass rounds the overhead of pods.
func RuntimeClass(class *nodev1.RuntimeClass) {
	if class.Overhead != nil {
		resourceList(class.Overhead.PodFixed)
	}
}
