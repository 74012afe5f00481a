package podtopologyspread

import "github.com/kubesim/kubesim/scheduler/framework"

// maxTallies bounds how many are kept: as many workloads are scheduled at the
// same time without counting anew.
const maxTallies = 32

// tallies keeps the counts of the last pods looked at.
type tallies struct {
	known map[string]*tally
	uses  int64
}

// tally holds the matching pods by node and by domain, for a set of constraints.
type tally struct {
	layout, version int64 // of the snapshot it is true for
	used            int64
	size            int         // nodes in the snapshot
	nodes           []nodeTally // by constraint, then by node
	domains         []domains   // by constraint
}

// nodeTally is one node's part in one constraint.
type nodeTally struct {
	value    string // of the topology label
	labelled bool   // has that label
	counts   bool   // is taken into account
	pods     int64
}

// domains of one constraint, by value of the topology label.
type domains map[string]*domainTally

type domainTally struct {
	pods  int64
	nodes int // that count; a domain without any does not exist
}

// count returns the tally of the constraints for the snapshot.
func (t *tallies) count(c *constraints, snapshot *framework.Snapshot) *tally {
	t.uses++
	key := c.key()
	known := t.known[key]
	if known == nil {
		known = &tally{}
		if key != "" {
			t.evict()
			t.known[key] = known
		}
	}
	known.used = t.uses
	known.update(c, snapshot)
	return known
}

func (t *tallies) evict() {
	if len(t.known) < maxTallies {
		return
	}
	var oldest string
	for key, tally := range t.known {
		if oldest == "" || tally.used < t.known[oldest].used {
			oldest = key
		}
	}
	delete(t.known, oldest)
}

// update looks at the nodes that changed, or at all if it must.
func (t *tally) update(c *constraints, snapshot *framework.Snapshot) {
	changed, ok := snapshot.Changed(t.version)
	if t.nodes == nil || t.layout != snapshot.Layout || !ok {
		t.size = len(snapshot.Nodes)
		t.nodes = make([]nodeTally, len(c.list)*t.size)
		t.domains = make([]domains, len(c.list))
		for i := range t.domains {
			t.domains[i] = domains{}
		}
		for _, node := range snapshot.Nodes {
			t.look(c, node)
		}
	} else {
		for _, index := range changed {
			t.look(c, snapshot.Nodes[index])
		}
	}
	t.layout, t.version = snapshot.Layout, snapshot.Version()
}

// look replaces what the node contributes.
func (t *tally) look(c *constraints, node *framework.NodeInfo) {
	all := !c.requireAll || c.hasLabels(node.Node)
	for i := range c.list {
		n := t.at(i, node)
		if n.counts {
			t.domains[i].add(n.value, -n.pods, -1)
		}
		value, labelled := node.Node.Labels[c.list[i].topologyKey]
		*n = nodeTally{
			value:    value,
			labelled: labelled,
			counts:   labelled && all && c.counts(i, node.Node),
			pods:     matching(node.Pods, c.list[i].selector, c.pod.Pod.Namespace),
		}
		if n.counts {
			t.domains[i].add(n.value, n.pods, 1)
		}
	}
}

// at returns a node's part in the i-th constraint. The node may have other
// pods by now, in thought.
func (t *tally) at(i int, node *framework.NodeInfo) *nodeTally {
	return &t.nodes[i*t.size+node.Index]
}

func (d domains) add(value string, pods int64, nodes int) {
	domain := d[value]
	if domain == nil {
		domain = &domainTally{}
		d[value] = domain
	}
	domain.pods += pods
	if domain.nodes += nodes; domain.nodes == 0 {
		delete(d, value)
	}
}
