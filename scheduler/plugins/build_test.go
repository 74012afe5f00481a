package plugins_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins"
)

// table lists the plugins that run: name, groups of extension points, weight.
func table(set plugins.Set) []string {
	var lines []string
	for _, row := range set.Rows {
		line := row.Plugin.Name()
		if _, ok := row.Plugin.(framework.FilterPlugin); ok && row.Off&plugins.Filter == 0 {
			line += " filter"
		}
		if _, ok := row.Plugin.(framework.ScorePlugin); ok && row.Off&plugins.Score == 0 {
			line += fmt.Sprintf(" score*%d", row.Weight)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestFor(t *testing.T) {
	for name, test := range map[string]struct {
		profile string
		has     []string // lines of the table
		order   []string // the first plugins, if given
		keeps   bool     // from preempting
		err     string
	}{
		"default":               {profile: "{}", has: []string{"TaintToleration filter score*3", "NodeResourcesFit filter score*1", "NodePorts filter"}},
		"scored otherwise":      {profile: "{plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 7}]}}}", has: []string{"NodeResourcesFit filter score*7"}},
		"weight at multiPoint":  {profile: "{plugins: {multiPoint: {enabled: [{name: NodeResourcesFit, weight: 7}]}}}", has: []string{"NodeResourcesFit filter score*7"}},
		"not scored":            {profile: "{plugins: {score: {disabled: [{name: TaintToleration}]}}}", has: []string{"TaintToleration filter"}},
		"nothing scored but":    {profile: "{plugins: {score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 2}]}}}", has: []string{"TaintToleration filter", "ImageLocality score*2"}},
		"off":                   {profile: "{plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}}", has: []string{"TaintToleration"}},
		"off but for filtering": {profile: "{plugins: {multiPoint: {disabled: [{name: TaintToleration}]}, filter: {enabled: [{name: TaintToleration}]}}}", has: []string{"TaintToleration filter"}},
		"filtered first":        {profile: "{plugins: {filter: {enabled: [{name: NodePorts}, {name: NodeName}]}}}", order: []string{"NodePorts", "NodeName", "SchedulingGates"}},
		"no preemption":         {profile: "{plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}}}", keeps: true},
		"unknown plugin":        {profile: "{plugins: {filter: {enabled: [{name: Nonsense}]}}}", err: `plugin "Nonsense" does not exist`},
		"unknown argument":      {profile: "{pluginConfig: [{name: NodeResourcesFit, args: {strategy: x}}]}", err: `unknown field "strategy"`},
		"unknown strategy":      {profile: "{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: Best}}}]}", err: `Unsupported value: "Best"`},
		"arguments of nobody":   {profile: "{pluginConfig: [{name: NodeName, args: {}}]}", err: `plugin "NodeName" takes no arguments`},
	} {
		t.Run(name, func(t *testing.T) {
			p := &configv1.KubeSchedulerProfile{}
			if err := yaml.UnmarshalStrict([]byte(test.profile), p); err != nil {
				t.Fatal(err)
			}
			set, err := plugins.For(framework.Handle{}, p)
			if test.err != "" || err != nil {
				if err == nil || !strings.Contains(err.Error(), test.err) || test.err == "" {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			lines := table(set)
			for _, want := range test.has {
				if !slices.Contains(lines, want) {
					t.Errorf("%q is not among %q", want, lines)
				}
			}
			for i, want := range test.order {
				if got := set.Rows[i].Plugin.Name(); got != want {
					t.Errorf("%s is at place %d, want %s", got, i, want)
				}
			}
			if (set.Preemption == nil) != test.keeps {
				t.Errorf("preemption is %v", set.Preemption)
			}
		})
	}
}
