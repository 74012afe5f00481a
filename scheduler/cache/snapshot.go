package cache

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/node/topology"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Update brings s, which must always be the same one, up to date.
func (c *Cache) Update(s *framework.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.relayout {
		s.Reset(c.inOrder(s))
		c.relayout = false
	} else {
		for _, e := range c.dirty {
			if e.info.Node != nil {
				n := e.info.Clone()
				n.Index = s.Node(n.Name()).Index
				s.Replace(n)
			}
		}
	}
	for _, e := range c.dirty {
		e.dirty = false
	}
	clear(c.dirty)
	c.dirty = c.dirty[:0]
}

// inOrder lists all nodes, one of each zone in turn, so that a search that
// stops early has still seen all zones.
func (c *Cache) inOrder(s *framework.Snapshot) []*framework.NodeInfo {
	zones := map[string][]*framework.NodeInfo{}
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		e := c.nodes[name]
		if e.info.Node == nil {
			continue
		}
		n := s.Node(name)
		if n == nil || n.Generation != e.info.Generation {
			n = e.info.Clone()
		}
		zone := zone(n.Node)
		zones[zone] = append(zones[zone], n)
	}
	names := slices.Sorted(maps.Keys(zones))
	var nodes []*framework.NodeInfo
	for i := 0; len(names) > 0; i++ {
		names = slices.DeleteFunc(names, func(zone string) bool { return i >= len(zones[zone]) })
		for _, zone := range names {
			nodes = append(nodes, zones[zone][i])
		}
	}
	return nodes
}

func zone(node *v1.Node) string { return topology.GetZoneKey(node) }
