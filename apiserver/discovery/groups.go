package discovery

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/kubesim/kubesim/apiserver/kinds"
)

// group is an API group with its versions, the preferred one first.
type group struct {
	name     string
	custom   bool // made of custom resources alone
	versions []groupVersion
}

type groupVersion struct {
	version string
	rows    []*kinds.Kind
}

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

// grouped sorts rows into groups: the built-in ones in the order of the table,
// then those of custom resources by name.
func grouped(rows []*kinds.Kind) []*group {
	var groups []*group
	byName := map[string]*group{}
	for _, k := range rows {
		g := byName[k.Group]
		if g == nil {
			g = &group{name: k.Group, custom: k.Unstructured}
			byName[k.Group] = g
			groups = append(groups, g)
		}
		g.add(k)
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		switch {
		case a.custom && b.custom:
			return strings.Compare(a.name, b.name)
		case a.custom:
			return 1
		case b.custom:
			return -1
		}
		return 0
	})
	for _, g := range groups {
		if g.custom {
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
	g.versions = append(g.versions, groupVersion{k.Version, []*kinds.Kind{k}})
}

// sort orders the versions and resources of custom resources, which come in any order.
func (g *group) sort() {
	slices.SortStableFunc(g.versions, func(a, b groupVersion) int {
		return version.CompareKubeAwareVersionStrings(b.version, a.version)
	})
	for _, v := range g.versions {
		slices.SortStableFunc(v.rows, func(a, b *kinds.Kind) int { return strings.Compare(a.Resource, b.Resource) })
	}
}
