package volumezone_test

import (
	"testing"

	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/volumezone"
)

func TestFits(t *testing.T) {
	const zone, old = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
	for name, test := range map[string]struct {
		volume volumezone.Topology
		node   string
		want   bool
	}{
		"same zone":                        {volumezone.Topology{Key: zone, Values: []string{"a"}}, "{" + zone + ": a}", true},
		"other zone":                       {volumezone.Topology{Key: zone, Values: []string{"a"}}, "{" + zone + ": b}", false},
		"one of two":                       {volumezone.Topology{Key: zone, Values: []string{"a", "b"}}, "{" + zone + ": b}", true},
		"the label's old name":             {volumezone.Topology{Key: old, Values: []string{"a"}}, "{" + zone + ": a}", true},
		"a node without zones":             {volumezone.Topology{Key: zone, Values: []string{"a"}}, "{}", true},
		"a node with no zone but a region": {volumezone.Topology{Key: zone, Values: []string{"a"}}, "{topology.kubernetes.io/region: r}", false},
	} {
		t.Run(name, func(t *testing.T) {
			node := frameworktest.Node(t, "metadata: {labels: "+test.node+"}")
			if got := volumezone.Fits([]volumezone.Topology{test.volume}, node); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
