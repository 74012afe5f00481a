package schedulinggates_test

import (
	"testing"

	"github.com/kubesim/kubesim/scheduler/frameworktest"
	"github.com/kubesim/kubesim/scheduler/plugins/schedulinggates"
)

func TestPreEnqueue(t *testing.T) {
	for gates, want := range map[string]string{
		"[]":                                 "",
		"[{name: a}]":                        "waiting for scheduling gates: [a]",
		"[{name: a}, {name: example.com/b}]": "waiting for scheduling gates: [a example.com/b]",
	} {
		got := schedulinggates.Plugin{}.PreEnqueue(frameworktest.Pod(t, "spec: {schedulingGates: "+gates+"}"))
		if got.Message() != want || got.OK() != (want == "") {
			t.Errorf("%s: got %q, want %q", gates, got.Message(), want)
		}
	}
}
