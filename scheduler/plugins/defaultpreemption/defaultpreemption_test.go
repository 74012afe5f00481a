package defaultpreemption_test

import (
	"fmt"
	"slices"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/defaultpreemption"
	"github.com/kubesim/kubesim/scheduler/plugins/noderesources"
)

// trial looks at resources only.
type trial struct{ pod *framework.PodInfo }

func (trial) AddPod(p *framework.PodInfo, node *framework.NodeInfo)    { node.AddPod(p) }
func (trial) RemovePod(p *framework.PodInfo, node *framework.NodeInfo) { node.RemovePod(p.Pod.UID) }

func (tr trial) Filter(node *framework.NodeInfo) *framework.Status {
	filter, _ := noderesources.Fit{}.PreFilter(tr.pod, nil)
	return filter.Filter(node)
}

func pod(name string, priority, cpu int, more string) string {
	return fmt.Sprintf("{metadata: {name: %s, labels: {name: %s}}, spec: {priority: %d, containers: [{resources: {requests: {cpu: %d}}}]}%s}",
		name, name, priority, cpu, more)
}

func TestSelectVictims(t *testing.T) {
	early, late := ", status: {startTime: '2026-01-01T00:00:00Z'}", ", status: {startTime: '2026-01-02T00:00:00Z'}"
	for name, test := range map[string]struct {
		pods       []string
		cpu        int
		protected  []string // by a budget that allows no disruption
		want       []string
		violations int
		reason     string
	}{
		"the least important":      {[]string{pod("low", 1, 2, ""), pod("mid", 5, 2, "")}, 2, nil, []string{"low"}, 0, ""},
		"the younger among equals": {[]string{pod("old", 1, 2, early), pod("young", 1, 2, late)}, 2, nil, []string{"young"}, 0, ""},
		"as few as possible":       {[]string{pod("a", 1, 1, ""), pod("b", 2, 3, "")}, 3, nil, []string{"b"}, 0, ""},
		"most important first":     {[]string{pod("a", 1, 2, ""), pod("b", 2, 2, "")}, 4, nil, []string{"b", "a"}, 0, ""},
		"spares a protected one":   {[]string{pod("low", 1, 2, ""), pod("mid", 5, 2, "")}, 2, []string{"low"}, []string{"mid"}, 0, ""},
		"unless it must be":        {[]string{pod("low", 1, 2, ""), pod("mid", 5, 2, "")}, 4, []string{"low"}, []string{"mid", "low"}, 1, ""},
		"not enough in any case":   {[]string{pod("equal", 9, 3, ""), pod("low", 1, 1, "")}, 2, nil, nil, 0, "Insufficient cpu"},
	} {
		t.Run(name, func(t *testing.T) {
			var pods []*framework.PodInfo
			for _, manifest := range test.pods {
				pods = append(pods, frameworktest.Placed(t, manifest))
			}
			var budgets []*policyv1.PodDisruptionBudget
			for _, name := range test.protected {
				b := &policyv1.PodDisruptionBudget{}
				b.Namespace, b.Spec.Selector = "default", metav1.SetAsLabelSelector(map[string]string{"name": name})
				budgets = append(budgets, b)
			}
			node := frameworktest.NodeInfo(t, "{}", pods...)
			preemptor := frameworktest.Pending(t, pod("high", 9, test.cpu, ""))
			c, status := defaultpreemption.SelectVictims(trial{preemptor}, node, defaultpreemption.Potential(preemptor, node), budgets)
			if status.Message() != test.reason {
				t.Fatalf("got %q, want %q", status.Message(), test.reason)
			}
			var got []string
			for _, v := range c.Victims {
				got = append(got, v.Pod.Name)
			}
			if !slices.Equal(got, test.want) || c.Violations != test.violations {
				t.Errorf("got %v with %d violations, want %v with %d", got, c.Violations, test.want, test.violations)
			}
		})
	}
}

func TestPick(t *testing.T) {
	candidate := func(node string, violations int, pods ...string) defaultpreemption.Candidate {
		c := defaultpreemption.Candidate{Node: node, Violations: violations}
		for _, manifest := range pods {
			c.Victims = append(c.Victims, frameworktest.Placed(t, manifest))
		}
		return c
	}
	started := func(priority int, when string) string {
		return pod("p", priority, 1, ", status: {startTime: '"+when+"'}")
	}
	for name, test := range map[string][2]defaultpreemption.Candidate{ // the first is to be picked
		"fewer violations":    {candidate("a", 0, pod("p", 9, 1, "")), candidate("b", 1, pod("p", 1, 1, ""))},
		"less important":      {candidate("a", 0, pod("p", 1, 1, ""), pod("q", 1, 1, "")), candidate("b", 0, pod("p", 2, 1, ""))},
		"smaller sum":         {candidate("a", 0, pod("p", 5, 1, ""), pod("q", 1, 1, "")), candidate("b", 0, pod("p", 5, 1, ""), pod("q", 4, 1, ""))},
		"fewer, also below 0": {candidate("a", 0, pod("p", -1, 1, "")), candidate("b", 0, pod("p", -1, 1, ""), pod("q", -5, 1, ""))},
		"younger":             {candidate("a", 0, started(1, "2026-01-02T00:00:00Z")), candidate("b", 0, started(1, "2026-01-01T00:00:00Z"))},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][]defaultpreemption.Candidate{{test[0], test[1]}, {test[1], test[0]}} {
				if got := defaultpreemption.Pick(order); got.Node != "a" {
					t.Errorf("picked %s", got.Node)
				}
			}
		})
	}
}

func TestEligible(t *testing.T) {
	ending := "{metadata: {name: v, deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {conditions: [{type: DisruptionTarget, status: 'True', reason: PreemptionByScheduler}]}}"
	for name, test := range map[string]struct {
		spec, other string
		verdict     *framework.Status
		want        string
	}{
		"anybody": {"{priority: 1}", "", nil, ""},
		"never":   {"{priority: 1, preemptionPolicy: Never}", "", nil, "not eligible due to preemptionPolicy=Never."},
		"its victim is ending": {"{priority: 1}", ending, nil,
			"not eligible due to a terminating pod on the nominated node."},
		"but the node is lost": {"{priority: 1}", ending, framework.RejectForGood("NodeUnschedulable"), ""},
		"another pod is there": {"{priority: 1}", "{metadata: {name: v}}", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var node *framework.NodeInfo
			if test.other != "" {
				node = frameworktest.NodeInfo(t, "{}", frameworktest.Placed(t, test.other))
			}
			if got := defaultpreemption.Eligible(frameworktest.Pending(t, "spec: "+test.spec), node, test.verdict); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
