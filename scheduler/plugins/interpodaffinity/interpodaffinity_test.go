package interpodaffinity_test

import (
	"slices"
	"testing"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/interpodaffinity"
)

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"

	noAffinity = "node(s) didn't match pod affinity rules"
	noAnti     = "node(s) didn't match pod anti-affinity rules"
	noOthers   = "node(s) didn't satisfy existing pods anti-affinity rules"
)

func term(app, key string) string {
	return "{labelSelector: {matchLabels: {app: " + app + "}}, topologyKey: " + key + "}"
}

// pod returns a pod with label app and an affinity.
func pod(name, app, affinity string) string {
	return "{metadata: {name: " + name + ", labels: {app: " + app + "}}, spec: {affinity: " + affinity + "}}"
}

// cluster has nodes a1 and a2 in zone a, b1 in zone b, and bare, without labels.
func cluster(t *testing.T, pods map[string][]string) *framework.Snapshot {
	var nodes []*framework.NodeInfo
	for _, node := range []struct{ name, labels string }{
		{"a1", "{host: a1, zone: a}"}, {"a2", "{host: a2, zone: a}"}, {"b1", "{host: b1, zone: b}"}, {"bare", "{}"},
	} {
		var placed []*framework.PodInfo
		for _, manifest := range pods[node.name] {
			placed = append(placed, frameworktest.Placed(t, manifest))
		}
		nodes = append(nodes, frameworktest.NodeInfo(t, "metadata: {name: "+node.name+", labels: "+node.labels+"}", placed...))
	}
	return framework.NewSnapshot(nodes...)
}

func TestFilter(t *testing.T) {
	for name, test := range map[string]struct {
		pods map[string][]string
		pod  string
		want [4]string // reason on a1, a2, b1, bare
	}{
		"no terms": {nil, pod("p", "web", "{}"), [4]string{}},
		"near another": {
			map[string][]string{"a1": {pod("x", "db", "{}")}},
			pod("p", "web", "{podAffinity: {"+required+": ["+term("db", "zone")+"]}}"),
			[4]string{"", "", noAffinity, noAffinity},
		},
		"near two, of which one node has both": {
			map[string][]string{"a1": {pod("x", "db", "{}")}, "b1": {pod("y", "db", "{}")}},
			pod("p", "web", "{podAffinity: {"+required+": ["+term("db", "zone")+", "+term("db", "host")+"]}}"),
			[4]string{"", noAffinity, "", noAffinity},
		},
		"near its own kind, as the first": {
			nil,
			pod("p", "web", "{podAffinity: {"+required+": ["+term("web", "host")+"]}}"),
			[4]string{"", "", "", noAffinity},
		},
		"near nobody": {
			nil,
			pod("p", "web", "{podAffinity: {"+required+": ["+term("db", "host")+"]}}"),
			[4]string{noAffinity, noAffinity, noAffinity, noAffinity},
		},
		"far from another": {
			map[string][]string{"a1": {pod("x", "db", "{}")}},
			pod("p", "web", "{podAntiAffinity: {"+required+": ["+term("db", "zone")+"]}}"),
			[4]string{noAnti, noAnti, "", ""},
		},
		"another wants to be far": {
			map[string][]string{"a1": {pod("x", "db", "{podAntiAffinity: {"+required+": ["+term("web", "host")+"]}}")}},
			pod("p", "web", "{}"),
			[4]string{noOthers, "", "", ""},
		},
		"another namespace": {
			map[string][]string{"a1": {"{metadata: {name: x, namespace: other, labels: {app: db}}}"}},
			pod("p", "web", "{podAntiAffinity: {"+required+": ["+term("db", "zone")+"]}}"),
			[4]string{},
		},
		"any namespace": {
			map[string][]string{"a1": {"{metadata: {name: x, namespace: other, labels: {app: db}}}"}},
			pod("p", "web", "{podAntiAffinity: {"+required+": [{labelSelector: {}, namespaceSelector: {}, topologyKey: host}]}}"),
			[4]string{noAnti, "", "", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := cluster(t, test.pods)
			filter, status := interpodaffinity.Plugin{}.PreFilter(frameworktest.Pending(t, test.pod), snapshot)
			if !status.OK() {
				t.Fatal(status.Message())
			}
			var got [4]string
			for i, node := range snapshot.Nodes {
				if filter != nil {
					got[i] = filter.Filter(node).Message()
				}
			}
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestFilterInThought(t *testing.T) {
	enemy := pod("x", "db", "{podAntiAffinity: {"+required+": ["+term("web", "host")+"]}}")
	snapshot := cluster(t, map[string][]string{"a1": {enemy}})
	filter, _ := interpodaffinity.Plugin{}.PreFilter(frameworktest.Pending(t, pod("p", "web", "{}")), snapshot)
	node, other := snapshot.Node("a1"), frameworktest.Placed(t, enemy)
	thought := filter.(framework.ClusterFilter).Clone()
	thought.RemovePod(other, node)
	if !thought.Filter(node).OK() {
		t.Error("the pod that was taken off still counts")
	}
	thought.AddPod(other, node)
	if thought.Filter(node).OK() {
		t.Error("the pod that was put back does not count")
	}
	thought.RemovePod(other, node)
	if filter.Filter(node).OK() {
		t.Error("the thought changed the original")
	}
}

func TestScore(t *testing.T) {
	weighted := func(weight, app, key string) string {
		return "[{weight: " + weight + ", podAffinityTerm: " + term(app, key) + "}]"
	}
	for name, test := range map[string]struct {
		pods      map[string][]string
		pod       string
		raw, want []int64
	}{
		"its own wish": {
			map[string][]string{"a1": {pod("x", "db", "{}")}},
			pod("p", "web", "{podAffinity: {"+preferred+": "+weighted("10", "db", "zone")+"}}"),
			[]int64{10, 10, 0, 0}, []int64{100, 100, 0, 0},
		},
		"its own dislike": {
			map[string][]string{"a1": {pod("x", "db", "{}"), pod("y", "db", "{}")}, "b1": {pod("z", "db", "{}")}},
			pod("p", "web", "{podAntiAffinity: {"+preferred+": "+weighted("10", "db", "host")+"}}"),
			[]int64{-20, 0, -10, 0}, []int64{0, 100, 50, 100},
		},
		"the wish of another": {
			map[string][]string{"b1": {pod("x", "db", "{podAffinity: {"+preferred+": "+weighted("5", "web", "host")+"}}")}},
			pod("p", "web", "{}"),
			[]int64{0, 0, 5, 0}, []int64{0, 0, 100, 0},
		},
		"the need of another": {
			map[string][]string{"a1": {pod("x", "db", "{podAffinity: {"+required+": ["+term("web", "zone")+"]}}")}},
			pod("p", "web", "{}"),
			[]int64{1, 1, 0, 0}, []int64{100, 100, 0, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := cluster(t, test.pods)
			scorer := interpodaffinity.Plugin{}.PreScore(frameworktest.Pending(t, test.pod), snapshot, snapshot.Nodes)
			var scores []int64
			for _, node := range snapshot.Nodes {
				scores = append(scores, scorer.Score(node))
			}
			if !slices.Equal(scores, test.raw) {
				t.Errorf("raw: got %v, want %v", scores, test.raw)
			}
			scorer.(framework.Normalizer).Normalize(snapshot.Nodes, scores)
			if !slices.Equal(scores, test.want) {
				t.Errorf("normalised: got %v, want %v", scores, test.want)
			}
		})
	}
	snapshot := cluster(t, map[string][]string{"a1": {pod("x", "db", "{}")}})
	if (interpodaffinity.Plugin{}).PreScore(frameworktest.Pending(t, pod("p", "web", "{}")), snapshot, snapshot.Nodes) != nil {
		t.Error("there is a preference where nobody has one")
	}
}
