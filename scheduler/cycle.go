package scheduler

import (
	"context"
	"errors"
	"fmt"

	oteltrace "go.opentelemetry.io/otel/trace"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins/defaultpreemption"
	"github.com/kubesim/kubesim/scheduler/profile"
	"github.com/kubesim/kubesim/scheduler/queue"
	"github.com/kubesim/kubesim/trace"
)

// errNoNodes is the whole message for a pod in a cluster without nodes.
var errNoNodes = errors.New("no nodes available to schedule pods")

// placement is the outcome of a successful attempt.
type placement struct {
	node     string
	decision string // in words
}

// scheduleOne makes one attempt to place a pod.
func (s *scheduler) scheduleOne(ctx context.Context, p *queue.Pod) {
	pod, ok := s.stillWaits(p)
	if !ok {
		s.queue.Done(p)
		return
	}
	if s.preempting.hold(p.UID()) {
		s.queue.Reject(p, sets.New(defaultpreemption.Name))
		return
	}
	if pod.DeletionTimestamp != nil {
		s.queue.Done(p)
		s.report(ctx, pod, occurrence{v1.EventTypeWarning, "FailedScheduling", "Scheduling",
			fmt.Sprintf("skip schedule deleting pod: %s", key(pod)), nil})
		return
	}

	ctx, span := s.startSpan(ctx, p)
	begun := s.Clock.Now()
	place, diagnosis, err := s.schedule(ctx, span, p.Info)
	took := s.Clock.Since(begun)
	switch {
	case err != nil:
		s.metrics.attempt(resultError, took)
		s.failed(ctx, span, p, err)
	case diagnosis != nil:
		s.metrics.attempt(resultUnschedulable, took)
		s.rejected(ctx, span, p, diagnosis)
	default:
		s.metrics.attempt(resultScheduled, took)
		span.SetAttributes(trace.Decision.String(place.decision))
		s.bind(ctx, span, p, place.node)
	}
}

// stillExists returns the pod unless it is gone.
func (s *scheduler) stillExists(pod *v1.Pod) (*v1.Pod, bool) {
	current, err := s.pods.Pods(pod.Namespace).Get(pod.Name)
	return current, err == nil && current.UID == pod.UID
}

// stillWaits returns the pod unless it is gone or has a node. The queue can be
// late: a pod may come back to it from a failed binding after it was deleted.
func (s *scheduler) stillWaits(p *queue.Pod) (*v1.Pod, bool) {
	pod, ok := s.stillExists(p.Info.Pod)
	if !ok || pod.Spec.NodeName != "" || s.cache.IsKnown(pod.UID) {
		return nil, false
	}
	return pod, true
}

// schedule finds the best node. If there is none, the diagnosis says why.
func (s *scheduler) schedule(ctx context.Context, span oteltrace.Span, pod *framework.PodInfo) (placement, *framework.Diagnosis, error) {
	s.cache.Update(s.snapshot)
	if len(s.snapshot.Nodes) == 0 {
		return placement{}, nil, errNoNodes
	}
	attempt, status := s.profileFor(pod.Pod).Start(pod, s.snapshot)
	if !s.nominated.empty() {
		attempt.Nominated = s.nominated.on
	}
	diagnosis := framework.NewDiagnosis(len(s.snapshot.Nodes))
	if !status.OK() {
		if !status.Rejected() {
			return placement{}, nil, status.Err
		}
		diagnosis.PreFilter, diagnosis.Absent = status, status
		diagnosis.Plugins.Insert(status.Plugin)
		s.preempt(ctx, attempt, diagnosis)
		return placement{}, diagnosis, nil
	}
	feasible, err := s.findFeasible(attempt, diagnosis)
	if err == nil {
		feasible, err = s.filterByExtenders(ctx, pod.Pod, feasible, diagnosis)
	}
	if err != nil {
		return placement{}, nil, err
	}
	switch len(feasible) {
	case 0:
		explain(span, s.snapshot, diagnosis, profile.Scores{}, "", s.preempt(ctx, attempt, diagnosis))
		return placement{}, diagnosis, nil
	case 1:
		node := feasible[0].Name()
		explain(span, s.snapshot, diagnosis, profile.Scores{Nodes: feasible}, node, nil)
		return placement{node, fmt.Sprintf("%s, the only feasible node found of %d", node, diagnosis.NumNodes())}, nil, nil
	}
	scores := attempt.Score(feasible)
	s.scoreByExtenders(ctx, pod.Pod, scores)
	best, ties := s.choose(scores.Totals)
	node := feasible[best].Name()
	explain(span, s.snapshot, diagnosis, scores, node, nil)
	decision := fmt.Sprintf("%s of %d feasible, score %d", node, len(feasible), scores.Totals[best])
	if ties > 1 {
		decision += fmt.Sprintf(", drawn from the %d best", ties)
	}
	return placement{node, decision}, nil, nil
}

// findFeasible filters nodes until enough are found.
func (s *scheduler) findFeasible(attempt *profile.Attempt, diagnosis *framework.Diagnosis) ([]*framework.NodeInfo, error) {
	// A node promised by preemption was chosen with care: if it fits, take it.
	if name := s.nominated.nodeFor(attempt.Pod.Pod.UID); name != "" {
		if node := s.snapshot.Node(name); node != nil && attempt.Filter(node).OK() {
			return []*framework.NodeInfo{node}, nil
		}
	}
	nodes, start := s.snapshot.Nodes, s.next
	if attempt.NodeNames != nil {
		nodes, start = s.named(attempt), 0
		diagnosis.Absent = framework.RejectForGood(attempt.NarrowedBy[0],
			fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", attempt.NarrowedBy))
		diagnosis.Plugins.Insert(attempt.NarrowedBy...)
	}
	enough := enough(len(nodes), s.profileFor(attempt.Pod.Pod).percentage)
	feasible := make([]*framework.NodeInfo, 0, enough)
	looked := 0
	for ; looked < len(nodes) && len(feasible) < enough; looked++ {
		node := nodes[(start+looked)%len(nodes)]
		switch status := attempt.Filter(node); {
		case status.OK():
			feasible = append(feasible, node)
		case status.Rejected():
			diagnosis.Set(node, status)
		default:
			return nil, fmt.Errorf("running %q filter plugin: %w", status.Plugin, status.Err)
		}
	}
	// The next search goes on where this one ended, so that all nodes have their turn.
	s.next = (s.next + looked) % len(s.snapshot.Nodes)
	return feasible, nil
}

// named lists the nodes to which the attempt is confined, as far as they exist.
func (s *scheduler) named(attempt *profile.Attempt) []*framework.NodeInfo {
	var nodes []*framework.NodeInfo
	for name := range attempt.NodeNames {
		if node := s.snapshot.Node(name); node != nil {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// enough is the number of feasible nodes that ends a search among n. A
// percentage of 0 stands for 50 % of 100 nodes falling to 5 % of 5000.
func enough(n, percentage int) int {
	const fewest = 100
	if n < fewest {
		return n
	}
	if percentage == 0 {
		percentage = max(50-n/125, 5)
	}
	return max(n*percentage/100, fewest)
}

// choose returns the place of one of the largest scores, each with the same
// chance, and how many there are.
func (s *scheduler) choose(scores []int64) (best, ties int) {
	ties = 1
	for i := 1; i < len(scores); i++ {
		switch {
		case scores[i] > scores[best]:
			best, ties = i, 1
		case scores[i] == scores[best]:
			ties++
			if s.rand.IntN(ties) == 0 {
				best = i
			}
		}
	}
	return best, ties
}
