package replicaset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// burst is how many pods are created or deleted in one reconcile.
const burst = 500

// decision is what to do about a ReplicaSet's pods: at most one of both.
type decision struct {
	want, have int
	create     int
	remove     []*corev1.Pod
}

// decide compares what a ReplicaSet wants with its active pods. The related
// pods are only asked for when some have to go.
func decide(set *appsv1.ReplicaSet, active []*corev1.Pod, related func() []*corev1.Pod, now time.Time) decision {
	d := decision{want: int(*set.Spec.Replicas), have: len(active)}
	switch missing := d.want - d.have; {
	case missing > 0:
		d.create = min(missing, burst)
	case missing < 0:
		d.remove = victims(active, related(), min(-missing, burst), now)
	}
	return d
}
