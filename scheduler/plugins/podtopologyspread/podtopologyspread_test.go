package podtopologyspread_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/podtopologyspread"
)

const (
	skewed    = "node(s) didn't match pod topology spread constraints"
	unlabeled = skewed + " (missing required label)"
)

func web(name, constraints string) string {
	return fmt.Sprintf("{metadata: {name: %s, labels: {app: web, hash: new}}, spec: {nodeSelector: {ready: 'yes'}, topologySpreadConstraints: [%s]}}", name, constraints)
}

func constraint(more string) string {
	return "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}" + more + "}"
}

// cluster has nodes a, b and c in zones of the same name, with so many web pods,
// and one without a zone. The pods of web's nodeSelector fit on all but c.
func cluster(t testing.TB, a, b, c int) *framework.Snapshot {
	var nodes []*framework.NodeInfo
	for i, n := range []int{a, b, c, 0} {
		name := string(rune('a' + i))
		labels := fmt.Sprintf("{zone: %s, kubernetes.io/hostname: %s, ready: '%s'}", name, name, []string{"yes", "yes", "no", "yes"}[i])
		if i == 3 {
			name, labels = "bare", "{ready: 'yes'}"
		}
		var pods []*framework.PodInfo
		for j := range n {
			pods = append(pods, frameworktest.Placed(t, fmt.Sprintf("{metadata: {name: %s%d, labels: {app: web, hash: old}}}", name, j)))
		}
		nodes = append(nodes, frameworktest.NodeInfo(t, "metadata: {name: "+name+", labels: "+labels+"}", pods...))
	}
	return framework.NewSnapshot(nodes...)
}

func TestFilter(t *testing.T) {
	for name, test := range map[string]struct {
		pods       [3]int
		constraint string
		want       [4]string // on a, b, c, bare
	}{
		"even":                  {[3]int{1, 1, 1}, constraint(""), [4]string{"", "", "", unlabeled}},
		"a is ahead":            {[3]int{1, 0, 0}, constraint(""), [4]string{skewed, "", "", unlabeled}},
		"c does not count":      {[3]int{1, 1, 0}, constraint(""), [4]string{"", "", "", unlabeled}},
		"c counts all the same": {[3]int{1, 1, 0}, constraint(", nodeAffinityPolicy: Ignore"), [4]string{skewed, skewed, "", unlabeled}},
		"a larger skew":         {[3]int{2, 1, 0}, "{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}", [4]string{"", "", "", unlabeled}},
		"too few domains":       {[3]int{1, 1, 1}, constraint(", minDomains: 3"), [4]string{skewed, skewed, "", unlabeled}},
		"by revision":           {[3]int{1, 0, 0}, constraint(", matchLabelKeys: [hash]"), [4]string{"", "", "", unlabeled}},
		"others do not count":   {[3]int{1, 0, 0}, "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: db}}}", [4]string{"", "", "", unlabeled}},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := cluster(t, test.pods[0], test.pods[1], test.pods[2])
			filter, _ := podtopologyspread.New(framework.Handle{}).PreFilter(frameworktest.Pending(t, web("p", test.constraint)), snapshot)
			var got [4]string
			for i, node := range snapshot.Nodes {
				got[i] = filter.Filter(node).Message()
			}
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestFilterInThought(t *testing.T) {
	snapshot := cluster(t, 1, 0, 0)
	filter, _ := podtopologyspread.New(framework.Handle{}).PreFilter(frameworktest.Pending(t, web("p", constraint(""))), snapshot)
	a := snapshot.Node("a")
	thought := filter.(framework.ClusterFilter).Clone()
	thought.RemovePod(a.Pods[0], a)
	if !thought.Filter(a).OK() {
		t.Error("the pod that was taken off still counts")
	}
	if filter.Filter(a).OK() {
		t.Error("the thought changed the original")
	}
	thought.AddPod(a.Pods[0], a)
	if thought.Filter(a).OK() {
		t.Error("the pod that was put back does not count")
	}
}

func TestSkew(t *testing.T) {
	for _, test := range []struct {
		pods, fewest        int64
		domains, minDomains int
		want                int64
	}{{3, 1, 3, 1, 2}, {1, 1, 3, 3, 0}, {1, 1, 2, 3, 1}} {
		if got := podtopologyspread.Skew(test.pods, test.fewest, test.domains, test.minDomains); got != test.want {
			t.Errorf("%+v: got %d", test, got)
		}
	}
}

func TestScore(t *testing.T) {
	anyway := "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}"
	snapshot := cluster(t, 3, 1, 0)
	scorer := podtopologyspread.New(framework.Handle{}).PreScore(frameworktest.Pending(t, web("p", anyway)), snapshot, snapshot.Nodes)
	scores := make([]int64, len(snapshot.Nodes))
	for i, node := range snapshot.Nodes {
		scores[i] = scorer.Score(node)
	}
	if want := []int64{5, 2, 0, 0}; !slices.Equal(scores, want) { // pods * ln(3+2)
		t.Errorf("raw: got %v, want %v", scores, want)
	}
	scorer.(framework.Normalizer).Normalize(snapshot.Nodes, scores)
	if want := []int64{0, 60, 100, 0}; !slices.Equal(scores, want) { // without a zone: the least
		t.Errorf("normalised: got %v, want %v", scores, want)
	}
}

// The counts that are kept must be those of a plugin that counts anew.
func TestKeptCountsAreTrue(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	snapshot := cluster(t, 1, 2, 0)
	kept := podtopologyspread.New(framework.Handle{})
	pod := frameworktest.Pending(t, web("p", constraint(", nodeAffinityPolicy: Ignore")))
	for step := range 300 {
		node := snapshot.Nodes[random.IntN(len(snapshot.Nodes))].Clone()
		if n := len(node.Pods); n > 0 && random.IntN(2) == 0 {
			node.RemovePod(node.Pods[random.IntN(n)].Pod.UID)
		} else {
			node.AddPod(frameworktest.Placed(t, fmt.Sprintf("{metadata: {name: pod-%d, labels: {app: web}}}", step)))
		}
		snapshot.Replace(node)
		if step%7 == 0 {
			snapshot.Reset(slices.Clone(snapshot.Nodes))
		}
		remembering, _ := kept.PreFilter(pod, snapshot)
		anew, _ := podtopologyspread.New(framework.Handle{}).PreFilter(pod, snapshot)
		for _, node := range snapshot.Nodes {
			if got, want := remembering.Filter(node).Message(), anew.Filter(node).Message(); got != want {
				t.Fatalf("step %d, %s: got %q, want %q", step, node.Name(), got, want)
			}
		}
	}
}
