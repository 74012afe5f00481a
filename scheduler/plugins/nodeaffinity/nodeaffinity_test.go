package nodeaffinity_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/nodeaffinity"
)

const required = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "

func TestFilter(t *testing.T) {
	node := frameworktest.NodeInfo(t, "metadata: {name: node-1, labels: {disk: ssd, cores: '8'}}")
	for spec, want := range map[string]bool{
		"{}":                                     true,
		"{nodeSelector: {disk: ssd}}":            true,
		"{nodeSelector: {disk: hdd}}":            false,
		"{nodeSelector: {disk: ssd, gpu: none}}": false,
		"{" + required + "[{matchExpressions: [{key: disk, operator: In, values: [hdd, ssd]}]}]}}}}":                                     true,
		"{" + required + "[{matchExpressions: [{key: cores, operator: Gt, values: ['8']}]}]}}}}":                                         false,
		"{" + required + "[{matchExpressions: [{key: gpu, operator: Exists}]}, {matchExpressions: [{key: disk, operator: Exists}]}]}}}}": true,
		"{" + required + "[{matchExpressions: [{key: gpu, operator: Exists}, {key: disk, operator: Exists}]}]}}}}":                       false,
		"{" + required + "[{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}]}}}}":                                   true,
		"{" + required + "[{matchFields: [{key: metadata.name, operator: In, values: [node-2]}]}]}}}}":                                   false,
		"{nodeSelector: {disk: hdd}, " + required + "[{matchExpressions: [{key: disk, operator: Exists}]}]}}}}":                          false,
		"{" + required + "[{}]}}}}": false, // an empty term selects nothing
	} {
		filter, status := nodeaffinity.Plugin{}.PreFilter(frameworktest.Pending(t, "spec: "+spec), nil)
		if !status.OK() {
			t.Errorf("%s: rejected: %s", spec, status.Message())
			continue
		}
		if got := filter == nil || filter.Filter(node).OK(); got != want {
			t.Errorf("%s: got %v, want %v", spec, got, want)
		}
	}
}

func TestNamedNodes(t *testing.T) {
	name := func(nodes string) string {
		return "matchFields: [{key: metadata.name, operator: In, values: " + nodes + "}]"
	}
	for terms, want := range map[string]sets.Set[string]{
		"[{" + name("[a]") + "}]":                                                   sets.New("a"),
		"[{" + name("[a]") + "}, {" + name("[b]") + "}]":                            sets.New("a", "b"),
		"[{" + name("[a]") + "}, {matchExpressions: [{key: x, operator: Exists}]}]": nil,
		"[{matchFields: [{key: metadata.name, operator: In, values: [a]}, {key: metadata.name, operator: In, values: [b]}]}]": sets.New[string](),
		"[{matchFields: [{key: metadata.name, operator: NotIn, values: [a]}]}]":                                               nil,
	} {
		pod := frameworktest.Pod(t, "spec: {"+required+terms+"}}}}")
		selector := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		got := nodeaffinity.NamedNodes(selector)
		if (got == nil) != (want == nil) || !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", terms, got, want)
		}
	}
}

func TestScore(t *testing.T) {
	pod := frameworktest.Pending(t, `spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [
		{weight: 10, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}},
		{weight: 5, preference: {matchExpressions: [{key: gpu, operator: Exists}]}}]}}}`)
	scorer := nodeaffinity.Plugin{}.PreScore(pod, nil, nil)
	var got []int64
	for _, labels := range []string{"{}", "{disk: ssd}", "{gpu: a}", "{disk: ssd, gpu: a}"} {
		got = append(got, scorer.Score(frameworktest.NodeInfo(t, "metadata: {labels: "+labels+"}")))
	}
	if want := []int64{0, 10, 5, 15}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if nobody := (nodeaffinity.Plugin{}).PreScore(frameworktest.Pending(t, "{}"), nil, nil); nobody != nil {
		t.Error("a pod without preferences has a scorer")
	}
}
