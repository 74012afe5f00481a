package tainteviction

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// verdict is what becomes of a pod.
type verdict int

const (
	stays      verdict = iota
	leaves             // at once
	leavesSoon         // when its toleration has run out
)

// decide looks at a node's taints and a pod's tolerations. For leavesSoon it
// says how long the pod may stay.
func decide(taints []corev1.Taint, tolerations []corev1.Toleration) (verdict, time.Duration) {
	limited, least := false, int64(0)
	for i := range taints {
		if taints[i].Effect != corev1.TaintEffectNoExecute {
			continue
		}
		toleration := matching(tolerations, &taints[i])
		if toleration == nil {
			return leaves, 0
		}
		if seconds := toleration.TolerationSeconds; seconds != nil && (!limited || *seconds < least) {
			limited, least = true, *seconds
		}
	}
	switch {
	case !limited:
		return stays, 0
	case least <= 0:
		return leaves, 0
	}
	return leavesSoon, time.Duration(least) * time.Second
}

// matching is the first toleration of a taint. Kubernetes counts the others out too.
func matching(tolerations []corev1.Toleration, taint *corev1.Taint) *corev1.Toleration {
	for i := range tolerations {
		if tolerations[i].ToleratesTaint(klog.Logger{}, taint, true) {
			return &tolerations[i]
		}
	}
	return nil
}
