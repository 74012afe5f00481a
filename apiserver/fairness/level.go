package fairness

import (
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/types"
)

// flow is a stream of requests that gets its turn with others of its level: of
// one schema, from one user or to one namespace.
type flow struct{ schema, distinguisher string }

// level is a priority level at work. The dispenser's lock guards it.
type level struct {
	uid              types.UID
	exempt           bool
	limit, executing int
	queueLength      int // of one flow, 0: nobody waits
	queues           int // flows that may wait
	flows            map[flow]*queue
	turns            []*queue // of flows that wait, in the order of their turns
}

// queue are the requests of a flow that wait.
type queue struct {
	flow    flow
	waiting []*waiter
}

type waiter struct {
	flow   flow
	served chan struct{} // closed when the seat is there
}

// sharesOf is how much of the seats a level gets in comparison to others.
func sharesOf(l *flowcontrolv1.PriorityLevelConfiguration) int32 {
	switch {
	case l.Spec.Limited != nil && l.Spec.Limited.NominalConcurrencyShares != nil:
		return *l.Spec.Limited.NominalConcurrencyShares
	case l.Spec.Exempt != nil && l.Spec.Exempt.NominalConcurrencyShares != nil:
		return *l.Spec.Exempt.NominalConcurrencyShares
	}
	return 0
}

func (l *level) configure(c *flowcontrolv1.PriorityLevelConfiguration, seats int, shares int32) {
	l.uid = c.UID
	l.exempt = c.Spec.Type == flowcontrolv1.PriorityLevelEnablementExempt
	l.limit, l.queueLength, l.queues = 0, 0, 0
	if shares > 0 { // rounded up
		l.limit = (seats*int(sharesOf(c)) + int(shares) - 1) / int(shares)
	}
	if limited := c.Spec.Limited; limited != nil && limited.LimitResponse.Queuing != nil {
		l.queueLength = int(limited.LimitResponse.Queuing.QueueLengthLimit)
		l.queues = int(limited.LimitResponse.Queuing.Queues)
	}
}

// wait puts a request at the end of its flow.
func (l *level) wait(f flow) (*waiter, error) {
	q := l.flows[f]
	switch {
	case l.queueLength == 0, q == nil && len(l.flows) >= l.queues, q != nil && len(q.waiting) >= l.queueLength:
		return nil, ErrFull
	case q == nil:
		q = &queue{flow: f}
		l.flows[f] = q
		l.turns = append(l.turns, q)
	}
	w := &waiter{flow: f, served: make(chan struct{})}
	q.waiting = append(q.waiting, w)
	return w, nil
}

// dispatch gives free seats to those who wait, one of each flow in turn.
func (l *level) dispatch() {
	for len(l.turns) > 0 && (l.exempt || l.executing < l.limit) {
		q := l.turns[0]
		l.turns = l.turns[1:]
		close(q.waiting[0].served)
		q.waiting = q.waiting[1:]
		l.executing++
		if len(q.waiting) == 0 {
			delete(l.flows, q.flow)
			continue
		}
		l.turns = append(l.turns, q)
	}
}

// leave takes a request out that waits no longer.
func (l *level) leave(w *waiter) {
	q := l.flows[w.flow]
	q.waiting = slices.DeleteFunc(q.waiting, func(other *waiter) bool { return other == w })
	if len(q.waiting) == 0 {
		delete(l.flows, q.flow)
		l.turns = slices.DeleteFunc(l.turns, func(other *queue) bool { return other == q })
	}
}
