package profile_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubesim/kubesim/scheduler/cache"
	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins"
	"github.com/kubesim/kubesim/scheduler/plugins/nodename"
	"github.com/kubesim/kubesim/scheduler/plugins/noderesources"
	"github.com/kubesim/kubesim/scheduler/plugins/tainttoleration"
	"github.com/kubesim/kubesim/scheduler/profile"
)

func rows() []plugins.Row {
	return []plugins.Row{
		{Plugin: nodename.Plugin{}, Local: true},
		{Plugin: tainttoleration.Plugin{}, Weight: 3, Local: true},
		{Plugin: noderesources.Fit{}, Weight: 1, Local: true},
		{Plugin: noderesources.BalancedAllocation{}, Weight: 1, Local: true},
	}
}

// verdicts runs a pod through a profile.
func verdicts(p *profile.Profile, pod *framework.PodInfo, s *framework.Snapshot) (map[string]string, map[string]int64) {
	attempt, _ := p.Start(pod, s)
	reasons, scores := map[string]string{}, map[string]int64{}
	var feasible []*framework.NodeInfo
	for _, node := range s.Nodes {
		if status := attempt.Filter(node); !status.OK() {
			reasons[node.Name()] = status.Message()
			continue
		}
		feasible = append(feasible, node)
	}
	for i, total := range attempt.Score(feasible).Totals {
		scores[feasible[i].Name()] = total
	}
	return reasons, scores
}

// A profile that remembers must judge as one that does not.
func TestRememberedVerdictsAreTrue(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	c, s := cache.New(), framework.NewSnapshot()
	remembering := profile.New("p", rows())
	node := func(i int) {
		c.SetNode(frameworktest.Node(t, fmt.Sprintf("{metadata: {name: node-%d}, spec: {taints: [{key: a, effect: %s}]}}",
			i, []string{"NoSchedule", "PreferNoSchedule", "none"}[random.IntN(3)])))
	}
	for i := range 5 {
		node(i)
	}
	var placed []*framework.PodInfo
	for step := range 400 {
		switch random.IntN(5) {
		case 0:
			node(random.IntN(8)) // new ones now and then
		case 1:
			c.RemoveNode(fmt.Sprintf("node-%d", random.IntN(8)))
		case 2:
			if len(placed) > 0 {
				c.RemovePod(placed[0].Pod.UID)
				placed = placed[1:]
			}
		default:
			pod := frameworktest.Placed(t, fmt.Sprintf("{metadata: {name: pod-%d}, spec: {nodeName: node-%d, containers: [{resources: {requests: {cpu: 1}}}]}}", step, random.IntN(8)))
			if err := c.Assume(pod); err != nil {
				t.Fatal(err)
			}
			placed = append(placed, pod)
		}
		c.Update(s)
		pod := frameworktest.Pending(t, fmt.Sprintf("spec: {containers: [{resources: {requests: {cpu: %d}}}]}", 1+random.IntN(2)))
		gotReasons, gotScores := verdicts(remembering, pod, s)
		wantReasons, wantScores := verdicts(profile.New("p", rows()), pod, s)
		if !maps.Equal(gotReasons, wantReasons) || !maps.Equal(gotScores, wantScores) {
			t.Fatalf("step %d: got %v %v, want %v %v", step, gotReasons, gotScores, wantReasons, wantScores)
		}
	}
}

func TestRoomIsKeptForNominatedPods(t *testing.T) {
	s := framework.NewSnapshot(frameworktest.NodeInfo(t, "metadata: {name: node-1}"))
	pod := func(name string, priority int) *framework.PodInfo {
		return frameworktest.Pending(t, fmt.Sprintf("{metadata: {name: %s}, spec: {priority: %d, containers: [{resources: {requests: {cpu: 3}}}]}}", name, priority))
	}
	promised := pod("promised", 5)
	for name, test := range map[string]struct {
		pod  *framework.PodInfo
		want bool
	}{
		"less important":          {pod("p", 1), false},
		"as important":            {pod("p", 5), false},
		"more important":          {pod("p", 9), true},
		"the promised one itself": {promised, true},
	} {
		t.Run(name, func(t *testing.T) {
			attempt, _ := profile.New("p", rows()).Start(test.pod, s)
			attempt.Nominated = func(string) []*framework.PodInfo { return []*framework.PodInfo{promised} }
			if got := attempt.Filter(s.Node("node-1")).OK(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestNarrowing(t *testing.T) {
	s := framework.NewSnapshot(frameworktest.NodeInfo(t, "metadata: {name: node-1}"))
	const named = `spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
		{matchFields: [{key: metadata.name, operator: In, values: [node-7]}]}]}}}}`
	p := profile.New("p", plugins.Default(framework.Handle{}))
	attempt, status := p.Start(frameworktest.Pending(t, named), s)
	if !status.OK() {
		t.Fatal(status.Message())
	}
	if got := attempt.NodeNames.UnsortedList(); !slices.Equal(got, []string{"node-7"}) || !slices.Equal(attempt.NarrowedBy, []string{"NodeAffinity"}) {
		t.Errorf("narrowed to %v by %v", got, attempt.NarrowedBy)
	}
}

func TestScoresAreExplained(t *testing.T) {
	s := framework.NewSnapshot(
		frameworktest.NodeInfo(t, "{metadata: {name: node-1}, spec: {taints: [{key: a, effect: PreferNoSchedule}]}}"),
		frameworktest.NodeInfo(t, "{metadata: {name: node-2}}", frameworktest.Placed(t, "spec: {containers: [{resources: {requests: {cpu: 2, memory: 4Gi}}}]}")))
	attempt, _ := profile.New("p", rows()).Start(frameworktest.Pending(t, "spec: {containers: [{resources: {requests: {cpu: 1, memory: 2Gi}}}]}"), s)
	scores := attempt.Score(s.Nodes)
	if want := []int64{0*3 + 75 + 100, 100*3 + 25 + 100}; !slices.Equal(scores.Totals, want) {
		t.Errorf("totals are %v, want %v", scores.Totals, want)
	}
	taints := scores.Plugins[0]
	if taints.Plugin != "TaintToleration" || taints.Weight != 3 || !slices.Equal(taints.Raw, []int64{1, 0}) || !slices.Equal(taints.Normalized, []int64{0, 100}) {
		t.Errorf("taints gave %+v", taints)
	}
}
