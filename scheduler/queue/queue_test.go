package queue_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/schedulinggates"
	"github.com/kubesim/kubesim/scheduler/queue"
)

var (
	nodeAdd = framework.Change{Event: framework.NodeAdd, Revision: 7}
	podGone = framework.Change{Event: framework.AssignedPodDelete}
)

type fixture struct {
	*testing.T
	*queue.Queue
	clock *clocktesting.FakeClock
}

func newFixture(t *testing.T) *fixture {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	return &fixture{T: t, clock: clock, Queue: queue.New(queue.Config{
		Clock:      clock,
		PreEnqueue: schedulinggates.Plugin{}.PreEnqueue,
		Hints: map[string][]framework.Hint{
			"Resources": {{On: framework.NodeAdd | framework.AssignedPodDelete}},
			"Affinity":  {{On: framework.NodeAdd | framework.PodUpdate}},
			"Picky":     {{On: framework.NodeAdd, Helps: func(*v1.Pod, framework.Change) bool { return false }}},
		},
	})}
}

func (f *fixture) add(name, spec string) *framework.PodInfo {
	f.Helper()
	info := frameworktest.Pending(f.T, "{metadata: {name: "+name+"}, spec: "+spec+"}")
	f.Add(info, framework.Change{Event: framework.PodUpdate})
	return info
}

// pop returns the next pod's name, "" if there is none now.
func (f *fixture) pop() *queue.Pod {
	f.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // what is there is given out all the same
	p, err := f.Pop(ctx)
	if err != nil {
		return nil
	}
	return p
}

func (f *fixture) expect(names ...string) []*queue.Pod {
	f.Helper()
	var pods []*queue.Pod
	var got []string
	for p := f.pop(); p != nil; p = f.pop() {
		pods, got = append(pods, p), append(got, p.Info.Pod.Name)
	}
	if !slices.Equal(got, names) {
		f.Fatalf("popped %q, want %q", got, names)
	}
	return pods
}

func TestOrder(t *testing.T) {
	f := newFixture(t)
	f.add("first", "{priority: 1}")
	f.clock.Step(time.Second)
	f.add("second", "{priority: 1}")
	f.clock.Step(time.Second)
	f.add("urgent", "{priority: 9}")
	f.expect("urgent", "first", "second")
}

func TestRejectedPodWaitsForAnEventThatHelps(t *testing.T) {
	for name, test := range map[string]struct {
		plugins sets.Set[string]
		change  framework.Change
		want    bool
	}{
		"one that helps":         {sets.New("Resources"), podGone, true},
		"one that does not":      {sets.New("Affinity"), podGone, false},
		"it helps one of two":    {sets.New("Affinity", "Resources"), podGone, true},
		"a closer look":          {sets.New("Picky"), nodeAdd, false},
		"nobody knows what":      {nil, podGone, true},
		"a plugin without hints": {sets.New("Unknown"), nodeAdd, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.add("pod", "{}")
			f.Reject(f.expect("pod")[0], test.plugins)
			f.expect()
			f.Move(test.change)
			if test.want {
				f.expect("pod")
			} else {
				f.expect()
			}
		})
	}
}

func TestEventDuringAnAttemptCounts(t *testing.T) {
	f := newFixture(t)
	f.add("pod", "{}")
	p := f.expect("pod")[0]
	f.Move(podGone)
	f.Move(nodeAdd)
	f.Reject(p, sets.New("Affinity"))
	p = f.expect("pod")[0]
	if p.Woke.Revision != nodeAdd.Revision || p.Attempts != 2 {
		t.Errorf("woke by %+v at attempt %d", p.Woke, p.Attempts)
	}
	f.Reject(p, sets.New("Affinity")) // the events before this attempt count no more
	f.expect()
}

func TestBackoff(t *testing.T) {
	f := newFixture(t)
	f.add("failing", "{priority: 9}")
	for _, seconds := range []int{1, 2, 4, 8, 10, 10} {
		p := f.expect("failing")[0]
		f.Reject(p, sets.New("Resources"))
		f.Move(nodeAdd)
		f.add("other", "{}")
		f.clock.Step(time.Duration(seconds)*time.Second - time.Millisecond)
		other := f.pop()
		if other.Info.Pod.Name != "other" {
			t.Fatalf("%s came before its %d seconds were over", other.Info.Pod.Name, seconds)
		}
		f.Done(other)
		f.add("other", "{}")
		f.clock.Step(time.Millisecond)
		p = f.pop()
		if p.Info.Pod.Name != "failing" {
			t.Fatalf("it did not come after %d seconds", seconds)
		}
		f.Delete("default/other")
		p.Attempts-- // pop again, in the next round
		f.Retry(p)
		f.clock.Step(queue.MaxBackoff)
	}
}

func TestBackoffIsCutShortWhenIdleExceptAfterErrors(t *testing.T) {
	f := newFixture(t)
	f.add("pod", "{}")
	p := f.expect("pod")[0]
	f.Reject(p, sets.New("Resources"))
	f.Move(nodeAdd)
	p = f.expect("pod")[0]
	f.Retry(p) // the second attempt ended in an error
	f.expect()
	f.clock.Step(2*time.Second - 1)
	f.expect()
	f.clock.Step(1)
	f.expect("pod")
}

func TestNobodyWaitsForEver(t *testing.T) {
	f := newFixture(t)
	f.add("pod", "{}")
	f.Reject(f.expect("pod")[0], sets.New("Affinity"))
	f.clock.Step(queue.MaxWait - time.Second)
	f.expect()
	f.clock.Step(31 * time.Second)
	f.expect("pod")
}

func TestGatedPod(t *testing.T) {
	f := newFixture(t)
	f.add("pod", "{schedulingGates: [{name: a}]}")
	f.Move(nodeAdd)
	f.expect()
	if got := f.Counts()["gated"]; got != 1 {
		t.Errorf("%d pods are gated, want 1", got)
	}
	f.Update(frameworktest.Pending(t, "metadata: {name: pod}"), framework.Change{Event: framework.PodUpdate})
	f.expect("pod")
}

func TestUpdate(t *testing.T) {
	f := newFixture(t)
	update := framework.Change{Event: framework.PodUpdate}
	f.add("pod", "{}")
	p := f.expect("pod")[0]
	f.Update(frameworktest.Pending(t, "{metadata: {name: pod}, spec: {priority: 3}}"), update)
	f.Reject(p, sets.New("Resources")) // to which the pod itself does not matter
	f.expect()
	f.Update(frameworktest.Pending(t, "{metadata: {name: pod}, spec: {priority: 4}}"), update)
	f.expect()
	f.Move(nodeAdd)
	p = f.expect("pod")[0]
	if p.Info.Priority != 4 {
		t.Errorf("priority is %d, want the newest, 4", p.Info.Priority)
	}
	f.Update(frameworktest.Pending(t, "{metadata: {name: pod}, spec: {priority: 5}}"), update)
	f.Reject(p, sets.New("Affinity")) // to which it does, and it changed meanwhile
	if p = f.expect("pod")[0]; p.Info.Priority != 5 {
		t.Errorf("priority is %d, want 5", p.Info.Priority)
	}
}

func TestDelete(t *testing.T) {
	f := newFixture(t)
	f.add("waiting", "{}")
	f.Delete("default/waiting")
	f.expect()
	f.add("flying", "{}")
	p := f.expect("flying")[0]
	f.Delete(p.UID())
	f.Reject(p, nil)
	f.Move(nodeAdd)
	f.expect()
	for pool, n := range f.Counts() {
		if n != 0 {
			t.Errorf("%d pods in %s, want none", n, pool)
		}
	}
}

func TestActivate(t *testing.T) {
	f := newFixture(t)
	f.add("pod", "{}")
	p := f.expect("pod")[0]
	f.Reject(p, sets.New("Unknown"))
	f.Activate(p.UID(), framework.Change{})
	p = f.expect("pod")[0]
	f.Activate(p.UID(), framework.Change{}) // in flight: it counts at the end
	f.Reject(p, sets.New("Unknown"))
	p = f.expect("pod")[0]
	f.Reject(p, sets.New("Unknown"))
	f.expect()
}

func TestPopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		ctx, cancel := context.WithCancel(context.Background())
		popped := make(chan *queue.Pod)
		go func() {
			for {
				p, err := f.Pop(ctx)
				if err != nil {
					close(popped)
					return
				}
				popped <- p
			}
		}()
		synctest.Wait()
		f.add("new", "{}")
		f.Retry(<-popped)
		synctest.Wait() // until Pop waits for the pod's time
		f.clock.Step(queue.InitialBackoff)
		<-popped
		cancel()
		if _, open := <-popped; open {
			t.Error("popped after the end")
		}
	})
}
