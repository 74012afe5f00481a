package scheduler

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins/defaultpreemption"
	"github.com/kubesim/kubesim/scheduler/profile"
)

// preempt looks for a node on which the pod would fit without some less
// important ones, and has them evicted. The pod is promised the node and tried
// again when they are gone. It returns what was chosen, if anything.
func (s *scheduler) preempt(ctx context.Context, attempt *profile.Attempt, diagnosis *framework.Diagnosis) *defaultpreemption.Candidate {
	if diagnosis.PreFilter != nil {
		// kube-scheduler asks its plugin for dynamic resources first, which looks for
		// what it would have prepared had the pod not been rejected before, and says this.
		diagnosis.PostFilter = "not found"
		return nil
	}
	pod := attempt.Pod
	args := s.profileFor(pod.Pod).preemption
	if args == nil {
		return nil
	}
	nominated := s.snapshot.Node(s.nominated.nodeFor(pod.Pod.UID))
	var verdict *framework.Status
	if nominated != nil {
		verdict = diagnosis.Status(nominated)
	}
	if why := defaultpreemption.Eligible(pod, nominated, verdict); why != "" {
		diagnosis.PostFilter = "preemption: " + why
		return nil
	}
	candidates, trials := s.candidates(attempt, diagnosis, args)
	candidates = s.preemptByExtenders(ctx, pod.Pod, candidates)
	if len(candidates) == 0 {
		s.nominated.set(pod, "")
		diagnosis.PostFilter = "preemption: " + trials.Message()
		return nil
	}
	best := defaultpreemption.Pick(candidates)
	s.nominated.set(pod, best.Node)
	diagnosis.PostFilter = fmt.Sprintf("preemption: found a potential placement for pod on node %s, preempting %d victims",
		best.Node, len(best.Victims))
	s.metrics.victims.Add(float64(len(best.Victims)))
	s.evictAll(ctx, pod, best)
	return &best
}

// candidates tries the nodes where evictions could help. If they do nowhere,
// the diagnosis returned says why.
func (s *scheduler) candidates(attempt *profile.Attempt, diagnosis *framework.Diagnosis, args *configv1.DefaultPreemptionArgs) ([]defaultpreemption.Candidate, *framework.Diagnosis) {
	trials := framework.NewDiagnosis(diagnosis.NumNodes())
	trials.Absent = framework.RejectForGood(defaultpreemption.Name, "Preemption is not helpful for scheduling")
	var nodes []*framework.NodeInfo
	for _, node := range s.snapshot.Nodes {
		if status := diagnosis.Status(node); status != nil && status.Code == framework.Unschedulable {
			nodes = append(nodes, node)
		}
	}
	if len(nodes) == 0 {
		return nil, trials
	}
	budgets := s.allBudgets()
	enough := min(max(len(nodes)*int(*args.MinCandidateNodesPercentage)/100, int(*args.MinCandidateNodesAbsolute)), len(nodes))
	offset, none := s.rand.IntN(len(nodes)), defaultpreemption.NoVictims()
	var found []defaultpreemption.Candidate
	for i := 0; i < len(nodes) && len(found) < enough; i++ {
		node := nodes[(offset+i)%len(nodes)]
		potential := defaultpreemption.Potential(attempt.Pod, node)
		if len(potential) == 0 {
			trials.Set(node, none)
			continue
		}
		c, status := defaultpreemption.SelectVictims(attempt.Clone(), node.Clone(), potential, budgets)
		switch {
		case !status.OK():
			trials.Set(node, status)
		case len(c.Victims) > 0:
			found = append(found, c)
		}
	}
	return found, trials
}

func (s *scheduler) allBudgets() []*policyv1.PodDisruptionBudget {
	budgets, err := s.budgets.List(labels.Everything())
	if err != nil { // an informer's lister has none
		return nil
	}
	return budgets
}

// evictAll evicts the victims on a goroutine of its own. Until it is through,
// the pod is not tried again: it would look for further victims.
func (s *scheduler) evictAll(ctx context.Context, pod *framework.PodInfo, c defaultpreemption.Candidate) {
	uid := pod.Pod.UID
	s.preempting.begin(uid)
	s.workers.slow(ctx, func(ctx context.Context) {
		defer func() {
			if s.preempting.end(uid) {
				s.queue.Activate(uid, framework.Change{Event: framework.AnyEvent})
			}
		}()
		s.withdraw(ctx, pod, c.Node)
		for _, victim := range c.Victims {
			if err := s.evict(ctx, pod.Pod, victim.Pod, c.Node); err != nil {
				s.preempting.hold(uid) // so that it is tried again, with others
				s.Logger.Warn("Failed to evict a pod", "pod", key(victim.Pod), "preemptor", key(pod.Pod), "err", err)
				return
			}
		}
	})
}

// withdraw takes the node back from less important pods that were promised it.
func (s *scheduler) withdraw(ctx context.Context, pod *framework.PodInfo, node string) {
	for _, p := range s.nominated.on(node) {
		if p.Priority >= pod.Priority {
			continue
		}
		s.nominated.set(p, "")
		if err := s.patchStatus(ctx, p.Pod, map[string]any{"nominatedNodeName": nil}); err != nil && ctx.Err() == nil {
			s.Logger.Warn("Failed to withdraw a nomination", "pod", key(p.Pod), "err", err)
		}
		s.queue.Activate(p.Pod.UID, framework.Change{Event: framework.AnyEvent})
	}
}

func (s *scheduler) evict(ctx context.Context, pod, victim *v1.Pod, node string) error {
	if victim.DeletionTimestamp != nil {
		return nil
	}
	err := s.patchStatus(ctx, victim, statusPatch(victim, v1.PodCondition{
		Type:               v1.DisruptionTarget,
		ObservedGeneration: victim.Generation,
		Status:             v1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(s.Clock.Now()),
		Reason:             v1.PodReasonPreemptionByScheduler,
		Message:            pod.Spec.SchedulerName + ": preempting to accommodate a higher priority pod",
	}))
	if err == nil {
		err = s.client.CoreV1().Pods(victim.Namespace).Delete(ctx, victim.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &victim.UID},
		})
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // gone already
	}
	if err != nil {
		return err
	}
	s.Logger.Info("Evicted pod", "pod", key(victim), "preemptor", key(pod), "node", node)
	s.recordNow(ctx, victim, occurrence{v1.EventTypeNormal, "Preempted", "Preempting",
		fmt.Sprintf("Preempted by pod %s on node %s", pod.UID, node), pod})
	return nil
}

// preemptions are the pods whose victims are being evicted right now.
type preemptions struct {
	mu   sync.Mutex
	held map[types.UID]bool // whether the pod was to be tried meanwhile
}

func newPreemptions() *preemptions { return &preemptions{held: map[types.UID]bool{}} }

func (p *preemptions) begin(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[uid] = false
}

// hold reports whether the pod must wait.
func (p *preemptions) hold(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, running := p.held[uid]
	if running {
		p.held[uid] = true
	}
	return running
}

// end reports whether the pod was held.
func (p *preemptions) end(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.held[uid]
	delete(p.held, uid)
	return held
}
