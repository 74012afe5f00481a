package deployment

import appsv1 "k8s.io/api/apps/v1"

// change is a new size for a ReplicaSet.
type change struct {
	set *appsv1.ReplicaSet
	to  int32
}

// to lists the changes that bring ReplicaSets to a size, without those that have it.
func to(size int32, sets ...*appsv1.ReplicaSet) []change {
	var changes []change
	for _, set := range sets {
		if *set.Spec.Replicas != size {
			changes = append(changes, change{set, size})
		}
	}
	return changes
}

// growNew brings the new ReplicaSet as near to the wanted size as surge allows,
// or back to it.
func (f *family) growNew() []change {
	set := f.newSet()
	if *set.Spec.Replicas > f.want() {
		return to(f.want(), set)
	}
	return to(f.newSize(*set.Spec.Replicas), set)
}

// newSize is how large the new ReplicaSet, now of the given size, may be.
func (f *family) newSize(size int32) int32 {
	if !f.rolling() {
		return f.want()
	}
	room := f.mostPods() - present(f.sets)
	if room <= 0 {
		return size
	}
	return size + min(room, f.want()-size)
}

// shrinkOld takes pods from old ReplicaSets, the oldest first: as many
// unavailable ones as can go without eating into those that must stay
// available, then available ones that are not needed.
func (f *family) shrinkOld() []change {
	set, old := f.newSet(), active(f.oldSets())
	newUnavailable := *set.Spec.Replicas - set.Status.AvailableReplicas
	budget := wanted(f.sets) - f.leastAvailable() - newUnavailable
	if budget <= 0 {
		return nil
	}
	sizes := make([]int32, len(old))
	for i, set := range old {
		sizes[i] = *set.Spec.Replicas
	}
	broken := take(old, sizes, budget, func(i int) int32 { return sizes[i] - old[i].Status.AvailableReplicas })
	spare := available(f.sets) - f.leastAvailable()
	healthy := take(old, sizes, spare, func(i int) int32 { return sizes[i] })
	return append(broken, healthy...)
}

// take removes up to budget from the sizes, from each at most what it can spare.
func take(sets []*appsv1.ReplicaSet, sizes []int32, budget int32, spare func(i int) int32) []change {
	var changes []change
	for i := range sets {
		if n := min(budget, spare(i), sizes[i]); n > 0 {
			sizes[i] -= n
			budget -= n
			changes = append(changes, change{sets[i], sizes[i]})
		}
	}
	return changes
}
