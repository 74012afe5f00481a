package deployment

import (
	"math"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of a ReplicaSet that tell what its Deployment wanted when it was
// last scaled.
const (
	desiredReplicas = "deployment.kubernetes.io/desired-replicas"
	maxReplicas     = "deployment.kubernetes.io/max-replicas"
)

func annotated(set *appsv1.ReplicaSet, key string) (int32, bool) {
	n, err := strconv.ParseInt(set.Annotations[key], 10, 32)
	return int32(n), err == nil
}

// annotateSizes tells whether that was news.
func (f *family) annotateSizes(set *appsv1.ReplicaSet) bool {
	changed := false
	for key, n := range map[string]int32{desiredReplicas: f.want(), maxReplicas: f.mostPods()} {
		if value := strconv.Itoa(int(n)); set.Annotations[key] != value {
			metav1.SetMetaDataAnnotation(&set.ObjectMeta, key, value)
			changed = true
		}
	}
	return changed
}

// rescaled tells whether the Deployment was scaled since its ReplicaSets were.
func (f *family) rescaled() bool {
	for _, set := range active(f.sets) {
		if n, ok := annotated(set, desiredReplicas); ok && n != f.want() {
			return true
		}
	}
	return false
}

// spread brings the sum of the sizes to what is wanted. In the middle of a
// rollout each ReplicaSet gets its share, so that a bad one does not get all.
func (f *family) spread() []change {
	if only := f.activeOrLatest(); only != nil {
		return to(f.want(), only)
	}
	if f.saturated() {
		return to(0, active(f.oldSets())...)
	}
	if !f.rolling() {
		return nil
	}
	sets, most := active(f.sets), int32(0)
	if f.want() > 0 {
		most = f.mostPods()
	}
	return f.shares(sets, most-wanted(sets))
}

// activeOrLatest is the ReplicaSet to scale outside of a rollout; nil within one.
func (f *family) activeOrLatest() *appsv1.ReplicaSet {
	switch sets := active(f.sets); {
	case len(sets) > 1:
		return nil
	case len(sets) == 1:
		return sets[0]
	case f.newSet() != nil:
		return f.newSet()
	case len(f.sets) > 0:
		return f.sets[len(f.sets)-1]
	}
	return nil
}

// saturated tells whether the new ReplicaSet has taken over.
func (f *family) saturated() bool {
	set := f.newSet()
	if set == nil {
		return false
	}
	desired, ok := annotated(set, desiredReplicas)
	return ok && desired == f.want() && *set.Spec.Replicas == f.want() && set.Status.AvailableReplicas == f.want()
}

// shares spreads toAdd (or -toAdd to remove) in proportion to the sizes, the
// largest first. What rounding leaves over goes to the largest. Sizes that stay
// are listed too, for their annotations.
func (f *family) shares(sets []*appsv1.ReplicaSet, toAdd int32) []change {
	slices.SortStableFunc(sets, func(a, b *appsv1.ReplicaSet) int {
		bySize := int(*b.Spec.Replicas) - int(*a.Spec.Replicas)
		switch {
		case bySize != 0:
			return bySize
		case toAdd > 0: // a newer one of the same size gains first,
			return olderFirst(b, a)
		}
		return olderFirst(a, b) // an older one loses first
	})
	changes, left := make([]change, len(sets)), toAdd
	for i, set := range sets {
		share := f.share(set, toAdd, left)
		changes[i] = change{set, *set.Spec.Replicas + share}
		left -= share
	}
	if len(changes) > 0 {
		changes[0].to = max(changes[0].to+left, 0)
	}
	return changes
}

// share is one ReplicaSet's part of toAdd, of which left is not given away yet.
func (f *family) share(set *appsv1.ReplicaSet, toAdd, left int32) int32 {
	if toAdd == 0 || left == 0 {
		return 0
	}
	part := f.proportion(set)
	if toAdd > 0 {
		return min(part, left)
	}
	return max(part, left)
}

// proportion scales a ReplicaSet as the whole is scaled: from the most pods
// that were allowed when it was last scaled to the most allowed now.
func (f *family) proportion(set *appsv1.ReplicaSet) int32 {
	size := *set.Spec.Replicas
	if f.want() == 0 {
		return -size
	}
	before, ok := annotated(set, maxReplicas)
	if !ok || before == 0 {
		before = f.d.Status.Replicas
	}
	if before == 0 {
		return 0
	}
	return int32(math.Round(float64(size)*float64(f.mostPods())/float64(before))) - size
}
