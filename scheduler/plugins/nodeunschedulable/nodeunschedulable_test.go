package nodeunschedulable_test

import (
	"testing"

	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/nodeunschedulable"
)

func TestFits(t *testing.T) {
	for name, test := range map[string]struct {
		node, pod string
		want      bool
	}{
		"open":                {"{}", "{}", true},
		"cordoned":            {"{unschedulable: true}", "{}", false},
		"tolerated":           {"{unschedulable: true}", "{tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoSchedule}]}", true},
		"everything":          {"{unschedulable: true}", "{tolerations: [{operator: Exists}]}", true},
		"tolerates otherwise": {"{unschedulable: true}", "{tolerations: [{key: other, operator: Exists}]}", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := nodeunschedulable.Fits(frameworktest.Pod(t, "spec: "+test.pod), frameworktest.Node(t, "spec: "+test.node))
			if got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
