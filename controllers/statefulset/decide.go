package statefulset

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubesim/kubesim/controllers/children"
)

// revision is a template under the name of its ControllerRevision.
type revision struct {
	name     string
	template *corev1.PodTemplateSpec
}

// scene is what a decision is made on.
type scene struct {
	set             *appsv1.StatefulSet
	current, update revision
	pods            []*corev1.Pod
	claim           func(name string) *corev1.PersistentVolumeClaim // nil if there is none
	now             time.Time
}

type verb string

const (
	create verb = "create" // claims first
	remove verb = "delete"
	claim  verb = "create the claims of"
	repair verb = "repair" // identity, volumes and owners of claims
)

type action struct {
	verb verb
	pod  *corev1.Pod
}

// plan is what a reconcile does: phase after phase, each only if the one before
// succeeded. Within a phase the actions of a Parallel set may run side by side.
type plan struct {
	phases [][]action
	waits  string // for what, in words
	// replaced is how many pods of the current revision the plan takes away for
	// the update; they no longer count.
	replaced int32
}

// decide plans the next step. It does not change the pods.
func decide(s scene) plan {
	if s.set.DeletionTimestamp != nil {
		return plan{waits: "it is being deleted"}
	}
	replicas, condemned := s.sort()
	var p plan
	living, waits := s.living(replicas)
	p.add(living)
	if waits != "" {
		p.waits = waits
		return p
	}
	p.add(s.claimsOfCondemned(condemned))
	dying, waits := s.dying(replicas, condemned)
	p.add(dying)
	if waits != "" || s.ordered() && len(dying) > 0 {
		p.waits = waits
		return p
	}
	if s.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return p
	}
	outdated := s.outdated(replicas)
	for _, action := range outdated {
		if revisionOf(action.pod) == s.current.name {
			p.replaced++
		}
	}
	p.add(outdated)
	return p
}

func (p *plan) add(actions []action) {
	if len(actions) > 0 {
		p.phases = append(p.phases, actions)
	}
}

// sort returns the pod of each ordinal, new ones where there is none, and the
// pods beyond the replicas, highest ordinal first.
func (s *scene) sort() (replicas, condemned []*corev1.Pod) {
	first := start(s.set)
	replicas = make([]*corev1.Pod, *s.set.Spec.Replicas)
	for _, pod := range s.pods {
		switch n := ordinal(pod); {
		case n < 0:
		case inRange(s.set, pod):
			replicas[n-first] = pod
		default:
			condemned = append(condemned, pod)
		}
	}
	for i, pod := range replicas {
		if pod == nil {
			replicas[i] = newPod(s.set, s.revisionFor(first+i), first+i)
		}
	}
	slices.SortFunc(condemned, func(a, b *corev1.Pod) int { return ordinal(b) - ordinal(a) })
	return replicas, condemned
}

// revisionFor is that of a new pod: below the partition the current one.
func (s *scene) revisionFor(n int) revision {
	strategy := s.set.Spec.UpdateStrategy
	if strategy.Type != appsv1.RollingUpdateStatefulSetStrategyType {
		return s.update
	}
	kept := int(s.set.Status.CurrentReplicas)
	if strategy.RollingUpdate != nil {
		kept = s.partition()
	}
	if n < start(s.set)+kept {
		return s.current
	}
	return s.update
}

func (s *scene) partition() int {
	if update := s.set.Spec.UpdateStrategy.RollingUpdate; update != nil && update.Partition != nil {
		return int(*update.Partition)
	}
	return 0
}

// maxUnavailable resolves a percentage, rounding up; it is at least 1.
func (s *scene) maxUnavailable() int {
	update := s.set.Spec.UpdateStrategy.RollingUpdate
	if update == nil || update.MaxUnavailable == nil {
		return 1
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(update.MaxUnavailable, int(*s.set.Spec.Replicas), true)
	if err != nil {
		return 1 // validation refuses it
	}
	return max(n, 1)
}

func (s *scene) ordered() bool {
	return s.set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
}

// available tells whether a pod has been ready for long enough, and stays.
func (s *scene) available(pod *corev1.Pod) bool {
	left, isReady := children.AvailableIn(pod, s.set.Spec.MinReadySeconds, s.now)
	return ready(pod) && isReady && left == 0 && !terminating(pod)
}

// living brings about the pods that should be there. In order, the first that
// is not available is also the last that is looked at.
func (s *scene) living(replicas []*corev1.Pod) (actions []action, waits string) {
	for _, pod := range replicas {
		do, blocks := s.nextFor(pod)
		actions = append(actions, do...)
		if blocks != "" && s.ordered() {
			return actions, blocks
		}
	}
	return actions, ""
}

// nextFor is what to do about one of the replicas, and what keeps those after it waiting.
func (s *scene) nextFor(pod *corev1.Pod) (do []action, blocks string) {
	switch {
	case children.Finished(pod):
		// The next one can be made when this one is gone.
		if !terminating(pod) {
			do = append(do, action{remove, pod})
		}
		return do, pod.Name + " has ended"
	case pod.UID == "":
		if name := s.staleClaim(pod); name != "" {
			return nil, "the old claim " + name + " is still there"
		}
		return append(do, action{create, pod}), pod.Name + " is new"
	}
	if pod.Status.Phase == corev1.PodPending && s.lacksClaims(pod) {
		do = append(do, action{claim, pod})
	}
	if !terminating(pod) && (!hasIdentity(pod) || !hasVolumes(s.set, pod) || s.retainsWrongly(pod)) {
		if s.available(pod) || !s.ordered() {
			do = append(do, action{repair, pod})
		}
	}
	switch {
	case terminating(pod):
		return do, pod.Name + " is terminating"
	case !ready(pod):
		return do, pod.Name + " is not ready"
	case !s.available(pod):
		return do, pod.Name + " is not available yet"
	}
	return do, ""
}

func (s *scene) staleClaim(pod *corev1.Pod) string {
	for _, claim := range claimsOf(s.set, pod) {
		if there := s.claim(claim.Name); there != nil && stale(there, pod) {
			return claim.Name
		}
	}
	return ""
}

func (s *scene) lacksClaims(pod *corev1.Pod) bool {
	return slices.ContainsFunc(claimsOf(s.set, pod), func(claim *corev1.PersistentVolumeClaim) bool { return s.claim(claim.Name) == nil })
}

func (s *scene) retainsWrongly(pod *corev1.Pod) bool {
	return slices.ContainsFunc(claimsOf(s.set, pod), func(claim *corev1.PersistentVolumeClaim) bool {
		there := s.claim(claim.Name)
		if there == nil {
			return false
		}
		_, wrong := retainedBy(s.set, pod, there)
		return wrong
	})
}

// claimsOfCondemned hands the claims of pods that are about to go over to them.
func (s *scene) claimsOfCondemned(condemned []*corev1.Pod) (actions []action) {
	for _, pod := range condemned {
		if s.retainsWrongly(pod) {
			actions = append(actions, action{repair, pod})
		}
	}
	return actions
}

// dying takes away the pods beyond the replicas: in order one at a time, and
// only while all others are available.
func (s *scene) dying(replicas, condemned []*corev1.Pod) (actions []action, waits string) {
	first := s.firstUnavailable(replicas, condemned)
	for _, pod := range condemned {
		switch {
		case terminating(pod):
			if s.ordered() {
				return actions, pod.Name + " is terminating"
			}
			continue
		case s.ordered() && pod != first && !s.available(pod):
			return actions, first.Name + " is not available"
		}
		actions = append(actions, action{remove, pod})
		if s.ordered() {
			break
		}
	}
	return actions, ""
}

// firstUnavailable is the pod of the lowest ordinal that is not available; it
// may go although it is not.
func (s *scene) firstUnavailable(replicas, condemned []*corev1.Pod) *corev1.Pod {
	for _, pod := range replicas {
		if !s.available(pod) {
			return pod
		}
	}
	for _, pod := range slices.Backward(condemned) {
		if !s.available(pod) {
			return pod
		}
	}
	return nil
}

// outdated takes pods of old templates away for the update, highest ordinal
// first, as long as no more than maxUnavailable are unavailable. Those of a
// Parallel set that are unavailable anyway all go at once.
func (s *scene) outdated(replicas []*corev1.Pod) (actions []action) {
	budget := s.maxUnavailable()
	for _, pod := range replicas {
		if !s.available(pod) {
			budget--
		}
	}
	for i, pod := range slices.Backward(replicas) {
		if i < s.partition() || pod.UID == "" || terminating(pod) || revisionOf(pod) == s.update.name {
			continue
		}
		switch free := !s.ordered() && !s.available(pod); {
		case free:
			actions = append(actions, action{remove, pod})
		case budget > 0:
			budget--
			actions = append(actions, action{remove, pod})
		}
	}
	return actions
}
