package replicaset

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/controllers/children"
)

// victims chooses the n pods that will be missed least.
func victims(active, related []*corev1.Pod, n int, now time.Time) []*corev1.Pod {
	if n >= len(active) {
		return active
	}
	perNode := map[string]int{}
	for _, pod := range related {
		if children.Active(pod) {
			perNode[pod.Spec.NodeName]++
		}
	}
	sorted := slices.Clone(active)
	slices.SortFunc(sorted, func(a, b *corev1.Pod) int { return lessMissed(a, b, perNode, now) })
	return sorted[:n]
}

// lessMissed is negative when a is the one to delete rather than b. The first
// criterion in which they differ decides.
func lessMissed(a, b *corev1.Pod, perNode map[string]int, now time.Time) int {
	return cmp.Or(
		assigned(a)-assigned(b),
		phaseRank(a)-phaseRank(b),
		readyRank(a)-readyRank(b),
		cmp.Compare(deletionCost(a), deletionCost(b)),
		perNode[b.Spec.NodeName]-perNode[a.Spec.NodeName],
		ageRank(children.ReadySince(a), now)-ageRank(children.ReadySince(b), now),
		int(restarts(b)-restarts(a)),
		ageRank(a.CreationTimestamp.Time, now)-ageRank(b.CreationTimestamp.Time, now),
		cmp.Compare(a.UID, b.UID),
	)
}

func assigned(pod *corev1.Pod) int {
	if pod.Spec.NodeName == "" {
		return 0
	}
	return 1
}

func phaseRank(pod *corev1.Pod) int {
	return slices.Index([]corev1.PodPhase{corev1.PodPending, corev1.PodUnknown, corev1.PodRunning}, pod.Status.Phase)
}

func readyRank(pod *corev1.Pod) int {
	if children.Ready(pod) {
		return 1
	}
	return 0
}

func deletionCost(pod *corev1.Pod) int64 {
	cost, err := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32)
	if err != nil {
		return 0 // none, and validation refuses others
	}
	return cost
}

// ageRank is the magnitude of an age. Ages of the same magnitude are equal, so
// that the choice among them is spread by uid instead of always hitting the
// last ones started, which tend to be in the same place.
func ageRank(since, now time.Time) int {
	age := now.Sub(since)
	if since.IsZero() || age <= 0 {
		return -1
	}
	return int(math.Log2(float64(age)))
}

func restarts(pod *corev1.Pod) (most int32) {
	for _, status := range pod.Status.ContainerStatuses {
		most = max(most, status.RestartCount)
	}
	return most
}
