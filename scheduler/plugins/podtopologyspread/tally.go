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
	nodes           []nodeTally // by constraint, then by node
	domains         []domains   // by constraint
}

// nodeTally is one node's part in one constraint.
type nodeTally struct {
	value  string // of the topology label
	pods   int64
	counts bool // has the label and is taken into account
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
		t.nodes = make([]nodeTally, len(c.list)*len(snapshot.Nodes))
		t.domains = make([]domains, len(c.list))
		for i := range t.domains {
			t.domains[i] = domains{}
		}
		for _, node := range snapshot.Nodes {
			t.look(c, node, len(snapshot.Nodes))
		}
	} else {
		for _, index := range changed {
			t.look(c, snapshot.Nodes[index], len(snapshot.Nodes))
		}
	}
	t.layout, t.version = snapshot.Layout, snapshot.Version()
}

// look replaces what the node contributes.
func (t *tally) look(c *constraints, node *framework.NodeInfo, nodes int) {
	all := !c.requireAll || c.hasLabels(node.Node)
	for i := range c.list {
		n := &t.nodes[i*nodes+node.Index]
		if n.counts {
			t.domains[i].add(n.value, -n.pods, -1)
		}
		value, labelled := node.Node.Labels[c.list[i].topologyKey]
		*n = nodeTally{
			value:  value,
			pods:   matching(node.Pods, c.list[i].selector, c.pod.Pod.Namespace),
			counts: labelled && all && c.counts(i, node.Node),
		}
		if n.counts {
			t.domains[i].add(n.value, n.pods, 1)
		}
	}
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
