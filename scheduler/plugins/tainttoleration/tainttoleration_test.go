package tainttoleration_test

import (
	"slices"
	"testing"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/tainttoleration"
)

func TestFitsAndIntolerable(t *testing.T) {
	for name, test := range map[string]struct {
		taints, tolerations string
		fits                bool
		intolerable         int64
	}{
		"no taint":         {"[]", "[]", true, 0},
		"taint":            {"[{key: a, value: x, effect: NoSchedule}]", "[]", false, 0},
		"tolerated":        {"[{key: a, value: x, effect: NoSchedule}]", "[{key: a, operator: Equal, value: x}]", true, 0},
		"other value":      {"[{key: a, value: x, effect: NoSchedule}]", "[{key: a, operator: Equal, value: y}]", false, 0},
		"other effect":     {"[{key: a, value: x, effect: NoExecute}]", "[{key: a, operator: Exists, effect: NoSchedule}]", false, 0},
		"one of two":       {"[{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}]", "[{key: a, operator: Exists}]", false, 0},
		"preferences":      {"[{key: a, effect: PreferNoSchedule}, {key: b, effect: PreferNoSchedule}]", "[{key: a, operator: Exists}]", true, 1},
		"every toleration": {"[{key: a, effect: NoSchedule}, {key: b, effect: PreferNoSchedule}]", "[{operator: Exists}]", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			taints := frameworktest.Node(t, "spec: {taints: "+test.taints+"}").Spec.Taints
			tolerations := frameworktest.Pod(t, "spec: {tolerations: "+test.tolerations+"}").Spec.Tolerations
			if got := tainttoleration.Fits(tolerations, taints); got != test.fits {
				t.Errorf("fits: got %v, want %v", got, test.fits)
			}
			if got := tainttoleration.Intolerable(tolerations, taints); got != test.intolerable {
				t.Errorf("intolerable: got %d, want %d", got, test.intolerable)
			}
		})
	}
}

func TestFewerTaintsAreBetter(t *testing.T) {
	scorer := tainttoleration.Plugin{}.PreScore(frameworktest.Pending(t, "{}"), nil, nil)
	scores := []int64{0, 1, 2}
	scorer.(framework.Normalizer).Normalize(nil, scores)
	if want := []int64{100, 50, 0}; !slices.Equal(scores, want) {
		t.Errorf("got %v, want %v", scores, want)
	}
}
