package discovery

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// group is an API group with its versions, the preferred one first.
type group struct {
	name     string
	builtin  bool
	priority int32 // of groups that are not built in: higher ones come first
	versions []groupVersion
}

type groupVersion struct {
	version  string
	priority int32 // the same for versions
	rows     []*kinds.Kind
	remote   *Remote // serves this version; nil for those of rows
}

// What custom resources have in place of the priorities of an APIService.
const customGroupPriority, customVersionPriority = 1000, 100

func (v groupVersion) name(g *group) string {
	if g.name == "" {
		return v.version
	}
	return g.name + "/" + v.version
}

func (g *group) path(v groupVersion) string {
	if g.name == "" {
		return "/api/" + v.version
	}
	return "/apis/" + g.name + "/" + v.version
}

// grouped sorts rows and remotes into groups: the built-in ones in the order of the
// table, then the others by priority and name. A remote does not take the place of rows.
func grouped(rows []*kinds.Kind, remotes []Remote) []*group {
	var groups []*group
	byName := map[string]*group{}
	named := func(name string, builtin bool, priority int32) *group {
		g := byName[name]
		if g == nil {
			g = &group{name: name, builtin: builtin}
			byName[name] = g
			groups = append(groups, g)
		}
		g.priority = max(g.priority, priority)
		return g
	}
	for _, k := range rows {
		named(k.Group, !k.Unstructured, customGroupPriority).add(k)
	}
	for i := range remotes {
		r := &remotes[i]
		g := named(r.Group, false, r.GroupPriority)
		if !slices.ContainsFunc(g.versions, func(v groupVersion) bool { return v.version == r.Version }) {
			g.versions = append(g.versions, groupVersion{version: r.Version, priority: r.VersionPriority, remote: r})
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		switch {
		case a.builtin && b.builtin:
			return 0
		case a.builtin:
			return -1
		case b.builtin:
			return 1
		}
		return cmp.Or(cmp.Compare(b.priority, a.priority), strings.Compare(a.name, b.name))
	})
	for _, g := range groups {
		if !g.builtin {
			g.sort()
		}
	}
	return groups
}

func (g *group) add(k *kinds.Kind) {
	for i := range g.versions {
		if g.versions[i].version == k.Version {
			g.versions[i].rows = append(g.versions[i].rows, k)
			return
		}
	}
	g.versions = append(g.versions, groupVersion{version: k.Version, priority: customVersionPriority, rows: []*kinds.Kind{k}})
}

// sort orders the versions and resources of a group that is not built in, which come in any order.
func (g *group) sort() {
	slices.SortStableFunc(g.versions, func(a, b groupVersion) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), version.CompareKubeAwareVersionStrings(b.version, a.version))
	})
	for _, v := range g.versions {
		slices.SortStableFunc(v.rows, func(a, b *kinds.Kind) int { return strings.Compare(a.Resource, b.Resource) })
	}
}
