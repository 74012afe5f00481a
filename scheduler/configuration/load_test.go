package configuration_test

import (
	"strings"
	"testing"

	"github.com/kubesim/kubesim/scheduler/configuration"
)

const head = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, "

func TestParse(t *testing.T) {
	for name, test := range map[string]struct{ file, err string }{
		"nothing said":        {head + "}", ""},
		"two profiles":        {head + "profiles: [{schedulerName: a}, {schedulerName: b, percentageOfNodesToScore: 10}]}", ""},
		"another kind":        {"{apiVersion: v1, kind: Pod}", "it is Pod of v1"},
		"an older version":    {"{apiVersion: kubescheduler.config.k8s.io/v1beta3, kind: KubeSchedulerConfiguration}", "v1beta3"},
		"unknown field":       {head + "profile: []}", `unknown field "profile"`},
		"names twice":         {head + "profiles: [{schedulerName: a}, {schedulerName: a}]}", `profiles[1].schedulerName: Duplicate value: "a"`},
		"a name missing":      {head + "profiles: [{schedulerName: a}, {}]}", "profiles[1].schedulerName: Required value"},
		"too many percent":    {head + "percentageOfNodesToScore: 101}", "percentageOfNodesToScore: Invalid value: 101"},
		"back-off of nothing": {head + "podInitialBackoffSeconds: 0}", "podInitialBackoffSeconds: Invalid value: 0"},
		"back-off falls":      {head + "podInitialBackoffSeconds: 20}", "podMaxBackoffSeconds: Invalid value: 10"},
		"extender nowhere":    {head + "extenders: [{filterVerb: f}]}", "extenders[0].urlPrefix: Required value"},
		"two binders":         {head + "extenders: [{urlPrefix: a, bindVerb: b}, {urlPrefix: c, bindVerb: d}]}", "only one extender can implement bind"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configuration.Parse([]byte(test.file))
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, want %q", err, test.err)
			}
		})
	}
}

func TestProfilesInheritThePercentage(t *testing.T) {
	c, err := configuration.Parse([]byte(head + "percentageOfNodesToScore: 30, profiles: [{schedulerName: a}, {schedulerName: b, percentageOfNodesToScore: 10}]}"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int32{30, 10} {
		if got := *c.Profiles[i].PercentageOfNodesToScore; got != want {
			t.Errorf("profile %d scores %d percent, want %d", i, got, want)
		}
	}
}
