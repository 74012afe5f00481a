package nodelifecycle

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var start = time.Unix(10000, 0)

func ready(status corev1.ConditionStatus, heartbeat time.Time) *corev1.Node {
	return &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastHeartbeatTime: metav1.NewTime(heartbeat)}}}}
}

func leaseAt(t time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: ptr.To(metav1.NewMicroTime(t))}}
}

func TestObserve(t *testing.T) {
	later := start.Add(30 * time.Second)
	first := observe(nil, ready(corev1.ConditionTrue, start), leaseAt(start), start)
	for name, test := range map[string]struct {
		node  *corev1.Node
		lease *coordinationv1.Lease
		seen  time.Time
	}{
		"nothing new":       {ready(corev1.ConditionTrue, start), leaseAt(start), start},
		"lease renewed":     {ready(corev1.ConditionTrue, start), leaseAt(later), later},
		"lease gone":        {ready(corev1.ConditionTrue, start), nil, start},
		"heartbeat":         {ready(corev1.ConditionTrue, later), leaseAt(start), later},
		"condition is gone": {&corev1.Node{}, leaseAt(start), later},
		// A clock that is set back shows life too, in the status, but not in the Lease.
		"heartbeat before the last": {ready(corev1.ConditionTrue, start.Add(-time.Hour)), leaseAt(start), later},
		"lease before the last":     {ready(corev1.ConditionTrue, start), leaseAt(start.Add(-time.Hour)), start},
	} {
		t.Run(name, func(t *testing.T) {
			if got := observe(&first, test.node, test.lease, later); !got.seen.Equal(test.seen) {
				t.Errorf("seen at %v, want %v", got.seen, test.seen)
			}
		})
	}
	if !first.silent(start.Add(41*time.Second)) || first.silent(start.Add(40*time.Second)) {
		t.Error("silent at another time than after 40 s")
	}
	never := observe(nil, &corev1.Node{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(start)}}, nil, later)
	if never.silent(start.Add(time.Minute)) || !never.silent(start.Add(61*time.Second)) {
		t.Error("a node that never told its status has a minute")
	}
}

func TestUnknown(t *testing.T) {
	node := ready(corev1.ConditionTrue, start)
	status, changed := unknown(node, start.Add(time.Minute))
	if !changed || len(status.Conditions) != 4 {
		t.Fatalf("status %+v", status)
	}
	if first := status.Conditions[0]; first.Reason != "NodeStatusUnknown" || !first.LastHeartbeatTime.Time.Equal(start) || !first.LastTransitionTime.Time.Equal(start.Add(time.Minute)) {
		t.Errorf("Ready is %+v", first)
	}
	if second := status.Conditions[1]; second.Type != corev1.NodeMemoryPressure || second.Reason != "NodeStatusNeverUpdated" {
		t.Errorf("the second condition is %+v", second)
	}
	node.Status = status
	if _, changed := unknown(node, start.Add(time.Hour)); changed {
		t.Error("a node that is Unknown is changed again")
	}
}

func TestNewTaints(t *testing.T) {
	added := metav1.NewTime(start.Add(-time.Hour))
	node := ready(corev1.ConditionUnknown, start)
	node.Spec.Taints = []corev1.Taint{
		{Key: "example.com/mine", Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute, TimeAdded: &added},
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectPreferNoSchedule},
		{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule},
	}
	taints, changed := newTaints(node, corev1.TaintNodeUnreachable, start)
	if !changed || len(taints) != 4 {
		t.Fatalf("taints %v", taints)
	}
	if taints[0].Key != "example.com/mine" || taints[1].Effect != corev1.TaintEffectPreferNoSchedule {
		t.Errorf("others' taints were changed: %v", taints)
	}
	for _, taint := range taints[2:] {
		if taint.Key != corev1.TaintNodeUnreachable || taint.TimeAdded == nil || !taint.TimeAdded.Time.Equal(start) {
			t.Errorf("added %+v", taint)
		}
	}
	node.Spec.Taints = taints
	if again, changed := newTaints(node, corev1.TaintNodeUnreachable, start.Add(time.Minute)); changed {
		t.Errorf("changed again to %v", again)
	}
}

func TestZoneStates(t *testing.T) {
	for _, test := range []struct {
		tally tally
		state state
		rate  float64
	}{
		{tally{3, 0}, healthy, 0.1}, {tally{1, 2}, healthy, 0.1}, {tally{0, 1}, fullyDisrupted, 0.1},
		{tally{2, 3}, partiallyDisrupted, 0}, {tally{3, 3}, healthy, 0.1}, {tally{20, 40}, partiallyDisrupted, 0.01}, {tally{0, 0}, healthy, 0.1},
	} {
		if state, rate := test.tally.state(), test.tally.rate(); state != test.state || rate != test.rate {
			t.Errorf("%+v: state %d, rate %v; want %d, %v", test.tally, state, rate, test.state, test.rate)
		}
	}
}

func TestZonesTake(t *testing.T) {
	z := zones{limits: map[string]*limit{}}
	z.update(map[string]tally{"a": {ready: 3, notReady: 1}, "b": {ready: 2, notReady: 3}})
	if granted, _ := z.take("a", start); !granted {
		t.Error("the first is not granted")
	}
	if granted, wait := z.take("a", start.Add(4*time.Second)); granted || wait != 6*time.Second {
		t.Errorf("after 4 s: %t, wait %v", granted, wait)
	}
	if granted, wait := z.take("b", start); granted || wait != 0 {
		t.Errorf("small zone that is partially disrupted: %t, wait %v", granted, wait)
	}
	all := map[string]tally{"a": {notReady: 4}, "b": {notReady: 5}}
	if entered, left := z.update(all); !entered || left {
		t.Errorf("all disrupted: %t, %t", entered, left)
	}
	if granted, _ := z.take("a", start.Add(time.Hour)); granted {
		t.Error("granted while everything is disrupted")
	}
	if entered, left := z.update(map[string]tally{"a": {ready: 1, notReady: 3}}); entered || !left {
		t.Errorf("one is back: %t, %t", entered, left)
	}
}
