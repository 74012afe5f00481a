package plugins

import (
	"fmt"
	"slices"

	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Point is a group of extension points at which a plugin may be turned off.
type Point int

// The groups. PreFilter goes with Filter, PreScore with Score, PreBind with Reserve.
const (
	PreEnqueue Point = 1 << iota
	Filter
	Score
	Reserve
)

// Set is the plugins of one profile.
type Set struct {
	Rows []Row
	// Preemption is nil when the plugin DefaultPreemption is turned off.
	Preemption *configv1.DefaultPreemptionArgs
}

// outside are plugins of kube-scheduler that are built into the scheduler here.
// Only preemption can be turned off.
var outside = []string{"PrioritySort", "DefaultBinder", preemption, "DeferredPodScheduling"}

const preemption = "DefaultPreemption"

// For returns the plugins that a profile asks for. The extended resources in
// ignored are left to extenders.
func For(handle framework.Handle, p *configv1.KubeSchedulerProfile, ignored ...string) (Set, error) {
	args, err := parseArgs(p.PluginConfig)
	if err != nil {
		return Set{}, err
	}
	args.fit.IgnoredResources = append(args.fit.IgnoredResources, ignored...)
	asked := p.Plugins
	if asked == nil {
		asked = &configv1.Plugins{}
	}
	rows := build(handle, args)
	if err := known(asked, rows); err != nil {
		return Set{}, err
	}
	set := Set{Rows: first(asked, rows)}
	for i := range set.Rows {
		set.Rows[i].configure(asked)
	}
	if enabled(preemption, &asked.MultiPoint, true, &asked.PostFilter) {
		set.Preemption = &args.preemption
	}
	return set, nil
}

// configure sets where a plugin runs, and its weight.
func (r *Row) configure(asked *configv1.Plugins) {
	name := r.Plugin.Name()
	for point, sets := range map[Point][]*configv1.PluginSet{
		PreEnqueue: {&asked.PreEnqueue},
		Filter:     {&asked.PreFilter, &asked.Filter},
		Score:      {&asked.PreScore, &asked.Score},
		Reserve:    {&asked.Reserve, &asked.PreBind},
	} {
		if !enabled(name, &asked.MultiPoint, true, sets...) {
			r.Off |= point
		}
	}
	for _, set := range []*configv1.PluginSet{&asked.MultiPoint, &asked.Score} { // the latter wins
		for _, plugin := range set.Enabled {
			if plugin.Name == name && plugin.Weight != nil && *plugin.Weight > 0 {
				r.Weight = int64(*plugin.Weight)
			}
		}
	}
}

// enabled follows kube-scheduler: an extension point's own list is stronger
// than multiPoint's, which is stronger than the default.
func enabled(name string, multi *configv1.PluginSet, byDefault bool, own ...*configv1.PluginSet) bool {
	on := byDefault && !lists(multi.Disabled, name) || names(multi.Enabled, name)
	for _, set := range own {
		on = on && !lists(set.Disabled, name)
	}
	for _, set := range own {
		on = on || names(set.Enabled, name)
	}
	return on
}

func names(list []configv1.Plugin, name string) bool {
	return slices.ContainsFunc(list, func(p configv1.Plugin) bool { return p.Name == name })
}

// lists is names for disabled plugins, where * stands for all.
func lists(list []configv1.Plugin, name string) bool { return names(list, name) || names(list, "*") }

// first brings the plugins that are enabled for filtering by name to the
// front, in their order: a node is rejected for the first reason found.
func first(asked *configv1.Plugins, rows []Row) []Row {
	place := map[string]int{}
	for _, set := range []*configv1.PluginSet{&asked.Filter, &asked.MultiPoint} {
		for _, plugin := range set.Enabled {
			if _, ok := place[plugin.Name]; !ok {
				place[plugin.Name] = len(place) + 1
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return rank(place, a) - rank(place, b)
	})
	return rows
}

func rank(place map[string]int, r Row) int {
	if n, ok := place[r.Plugin.Name()]; ok {
		return n
	}
	return len(place) + 1
}

// known refuses plugins that do not exist.
func known(asked *configv1.Plugins, rows []Row) error {
	for _, set := range []*configv1.PluginSet{
		&asked.PreEnqueue, &asked.QueueSort, &asked.PreFilter, &asked.Filter, &asked.PostFilter, &asked.PreScore, &asked.Score,
		&asked.Reserve, &asked.Permit, &asked.PreBind, &asked.Bind, &asked.PostBind, &asked.MultiPoint,
	} {
		for _, plugin := range set.Enabled {
			isRow := slices.ContainsFunc(rows, func(r Row) bool { return r.Plugin.Name() == plugin.Name })
			if !isRow && !slices.Contains(outside, plugin.Name) {
				return fmt.Errorf("plugin %q does not exist", plugin.Name)
			}
		}
	}
	return nil
}
