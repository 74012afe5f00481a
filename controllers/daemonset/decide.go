package daemonset

import (
	"cmp"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubesim/kubesim/controllers/children"
)

// scene is what a decision is made on.
type scene struct {
	ds    *appsv1.DaemonSet
	hash  string // of the current template
	nodes map[string]*corev1.Node
	pods  map[string][]*corev1.Pod // by node, the oldest first
	// held tells how long the replacement of a failed pod on a node still has to wait.
	held func(node string) time.Duration
	now  time.Time
}

// newScene sorts the pods by node. One that has ended and is being deleted is
// as good as gone.
func newScene(ds *appsv1.DaemonSet, hash string, nodes []*corev1.Node, pods []*corev1.Pod, now time.Time) scene {
	s := scene{ds: ds, hash: hash, nodes: map[string]*corev1.Node{}, pods: map[string][]*corev1.Pod{}, now: now}
	for _, node := range nodes {
		s.nodes[node.Name] = node
	}
	for _, pod := range pods {
		if node := target(pod); node != "" && !(children.Finished(pod) && pod.DeletionTimestamp != nil) {
			s.pods[node] = append(s.pods[node], pod)
		}
	}
	for _, there := range s.pods {
		slices.SortFunc(there, olderFirst)
	}
	return s
}

func olderFirst(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// plan is what a reconcile does.
type plan struct {
	create []string // nodes
	remove []*corev1.Pod
	// ended are those of remove that the set did not want to end.
	ended []*corev1.Pod
	// again is when a failed pod may be replaced.
	again time.Duration
}

func (p *plan) empty() bool { return len(p.create)+len(p.remove) == 0 }

// decide plans which pods come and go. An update only goes on when each node
// has the pods that it should have.
func decide(s scene) plan {
	p := s.manage()
	if p.empty() && s.ds.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		again := p.again
		p = s.update()
		p.again = again
	}
	return p
}

// manage brings each node to one pod, or none.
func (s *scene) manage() plan {
	var p plan
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		v := judge(s.ds, s.nodes[name])
		there := s.pods[name]
		switch {
		case v.run && len(there) == 0:
			p.create = append(p.create, name)
		case v.stay:
			s.prune(&p, name)
		default:
			p.remove = append(p.remove, staying(there)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		if s.nodes[name] != nil {
			continue
		}
		for _, pod := range s.pods[name] {
			// Pods that run on a node that is gone are left to the pod garbage collector.
			if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil {
				p.remove = append(p.remove, pod)
			}
		}
	}
	return p
}

// prune takes away the pods of a node that have ended, and those in excess.
func (s *scene) prune(p *plan, node string) {
	var running []*corev1.Pod
	for _, pod := range staying(s.pods[node]) {
		switch {
		case pod.Status.Phase == corev1.PodFailed:
			if wait := s.held(node); wait > 0 {
				if p.again == 0 || wait < p.again {
					p.again = wait
				}
				continue
			}
			p.ended, p.remove = append(p.ended, pod), append(p.remove, pod)
		case pod.Status.Phase == corev1.PodSucceeded:
			p.ended, p.remove = append(p.ended, pod), append(p.remove, pod)
		default:
			running = append(running, pod)
		}
	}
	if len(running) <= 1 {
		return
	}
	if surge, _ := s.limits(); surge == 0 {
		p.remove = append(p.remove, running[1:]...)
		return
	}
	p.remove = append(p.remove, s.excess(running)...)
}

// excess is what a node has beyond the oldest old and the oldest new pod while
// it surges; the old one too, once it isn't needed any more.
func (s *scene) excess(running []*corev1.Pod) []*corev1.Pod {
	var newest, oldest *corev1.Pod
	var excess []*corev1.Pod
	for _, pod := range running {
		switch isNew := updated(s.ds, pod, s.hash); {
		case isNew && newest == nil:
			newest = pod
		case !isNew && oldest == nil:
			oldest = pod
		default:
			excess = append(excess, pod)
		}
	}
	if newest != nil && oldest != nil && (!children.Ready(oldest) || s.available(newest)) {
		excess = append(excess, oldest)
	}
	return excess
}

// update replaces pods of old templates.
func (s *scene) update() plan {
	if surge, unavailable := s.limits(); surge == 0 {
		return s.replace(unavailable)
	} else {
		return s.surge(surge)
	}
}

// replace takes old pods away: those that are unavailable anyway, and as many
// others as may be unavailable beside.
func (s *scene) replace(maxUnavailable int) plan {
	var p plan
	var candidates []*corev1.Pod
	budget := maxUnavailable
	for _, name := range s.places() {
		newPod, oldPod, clear := s.pair(name)
		switch {
		case !clear, (newPod == nil) == (oldPod == nil):
			budget-- // manage has to do with this node first
		case newPod != nil:
			if !s.available(newPod) {
				budget--
			}
		case !s.available(oldPod):
			budget--
			p.remove = append(p.remove, oldPod)
		default:
			candidates = append(candidates, oldPod)
		}
	}
	p.remove = append(p.remove, candidates[:min(max(budget, 0), len(candidates))]...)
	return p
}

// surge makes new pods beside old ones, and takes the old ones away when the
// new ones are available. Beside an old pod that is unavailable the new one is free.
func (s *scene) surge(maxSurge int) plan {
	var p plan
	var candidates []string
	budget := maxSurge
	for _, name := range s.places() {
		newPod, oldPod, clear := s.pair(name)
		switch {
		case !clear:
			budget--
		case oldPod == nil:
		case newPod == nil:
			node := s.nodes[name]
			switch runs := node != nil && judge(s.ds, node).run; {
			case !s.available(oldPod) && runs:
				p.create = append(p.create, name)
			case !s.available(oldPod) && node != nil:
				p.remove = append(p.remove, oldPod)
			case runs:
				candidates = append(candidates, name)
			}
		case !s.available(newPod):
			budget--
		default:
			p.remove = append(p.remove, oldPod)
		}
	}
	p.create = append(p.create, candidates[:min(max(budget, 0), len(candidates))]...)
	return p
}

// places are the nodes that have or should have pods, in order.
func (s *scene) places() []string {
	places := map[string]bool{}
	for name := range s.pods {
		places[name] = true
	}
	for name, node := range s.nodes {
		if judge(s.ds, node).run {
			places[name] = true
		}
	}
	return slices.Sorted(maps.Keys(places))
}

// pair returns the new and the old pod of a node, of those that stay; false if
// there are two of a kind.
func (s *scene) pair(node string) (newPod, oldPod *corev1.Pod, clear bool) {
	for _, pod := range staying(s.pods[node]) {
		slot := &oldPod
		if updated(s.ds, pod, s.hash) {
			slot = &newPod
		}
		if *slot != nil {
			return nil, nil, false
		}
		*slot = pod
	}
	return newPod, oldPod, true
}

// limits resolve the percentages of a rolling update, rounding up; they are
// never both 0.
func (s *scene) limits() (surge, unavailable int) {
	update := s.ds.Spec.UpdateStrategy.RollingUpdate
	if s.ds.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType || update == nil {
		return 0, 1
	}
	desired := 0
	for _, node := range s.nodes {
		if judge(s.ds, node).run {
			desired++
		}
	}
	surge, unavailable = resolve(update.MaxSurge, desired), resolve(update.MaxUnavailable, desired)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

func resolve(value *intstr.IntOrString, of int) int {
	if value == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, of, true)
	if err != nil {
		return 0 // validation refuses it
	}
	return n
}

func (s *scene) available(pod *corev1.Pod) bool {
	left, ready := children.AvailableIn(pod, s.ds.Spec.MinReadySeconds, s.now)
	return ready && left == 0
}

// staying are the pods that are not on their way out.
func staying(pods []*corev1.Pod) []*corev1.Pod {
	var kept []*corev1.Pod
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil {
			kept = append(kept, pod)
		}
	}
	return kept
}
