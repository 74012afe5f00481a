package nodename_test

import (
	"testing"

	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/nodename"
)

func TestFits(t *testing.T) {
	node := frameworktest.Node(t, "metadata: {name: node-1}")
	for spec, want := range map[string]bool{
		"{}":                 true,
		"{nodeName: node-1}": true,
		"{nodeName: node-2}": false,
	} {
		if got := nodename.Fits(frameworktest.Pod(t, "spec: "+spec), node); got != want {
			t.Errorf("%s: got %v, want %v", spec, got, want)
		}
	}
}
