package podtopologyspread

import (
	"maps"
	"math"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubesim/kubesim/scheduler/framework"
)

var (
	skewed    = framework.Reject(Name, "node(s) didn't match pod topology spread constraints")
	unlabeled = framework.RejectForGood(Name, "node(s) didn't match pod topology spread constraints (missing required label)")
)

// PreFilter implements framework.FilterPlugin.
func (pl Plugin) PreFilter(pod *framework.PodInfo, snapshot *framework.Snapshot) (framework.PodFilter, *framework.Status) {
	var c *constraints
	if len(pod.Pod.Spec.TopologySpreadConstraints) > 0 {
		c = own(pod, v1.DoNotSchedule)
	} else {
		c = pl.defaults(pod, v1.DoNotSchedule)
	}
	if c == nil || len(c.list) == 0 {
		return nil, nil
	}
	t := pl.tallies.count(c, snapshot)
	f := &filter{constraints: c, tally: t, state: make([]spread, len(c.list))}
	for i := range c.list {
		f.state[i] = spread{domains: t.domains[i], self: selects(&c.list[i], pod.Pod)}
		f.state[i].findFewest()
	}
	return f, nil
}

type filter struct {
	*constraints
	tally *tally
	state []spread // by constraint
}

// spread is where the pods of one constraint are.
type spread struct {
	domains domains          // of the tally, not to be changed
	moved   map[string]int64 // pods put there, and taken away, in thought
	fewest  int64            // in any domain
	self    int64            // 1 if the pod itself would count
}

func (s *spread) pods(value string) int64 {
	n := s.moved[value]
	if domain := s.domains[value]; domain != nil {
		n += domain.pods
	}
	return n
}

func (s *spread) findFewest() {
	s.fewest = math.MaxInt64
	for value := range s.domains {
		s.fewest = min(s.fewest, s.pods(value))
	}
	if len(s.domains) == 0 {
		s.fewest = 0
	}
}

func (f *filter) Filter(node *framework.NodeInfo) *framework.Status {
	for i := range f.list {
		c, s := &f.list[i], &f.state[i]
		n := f.tally.at(i, node)
		if !n.labelled {
			return unlabeled
		}
		if Skew(s.pods(n.value)+s.self, s.fewest, len(s.domains), c.minDomains) > c.maxSkew {
			return skewed
		}
	}
	return nil
}

// Skew is by how many pods a domain would be ahead of the one with fewest.
// While there are less than minDomains domains, the missing ones have none.
func Skew(pods, fewest int64, domains, minDomains int) int64 {
	if domains < minDomains {
		return pods
	}
	return pods - fewest
}

// AddPod implements framework.ClusterFilter.
func (f *filter) AddPod(pod *framework.PodInfo, node *framework.NodeInfo) { f.move(pod, node, 1) }

// RemovePod implements framework.ClusterFilter.
func (f *filter) RemovePod(pod *framework.PodInfo, node *framework.NodeInfo) { f.move(pod, node, -1) }

func (f *filter) move(pod *framework.PodInfo, node *framework.NodeInfo, n int64) {
	if pod.Pod.Namespace != f.pod.Pod.Namespace || pod.Pod.DeletionTimestamp != nil || !f.hasLabels(node.Node) {
		return
	}
	for i := range f.list {
		if selects(&f.list[i], pod.Pod) == 0 || !f.counts(i, node.Node) {
			continue
		}
		s := &f.state[i]
		if s.moved == nil {
			s.moved = map[string]int64{}
		}
		s.moved[node.Node.Labels[f.list[i].topologyKey]] += n
		s.findFewest()
	}
}

// Clone implements framework.ClusterFilter.
func (f *filter) Clone() framework.ClusterFilter {
	c := &filter{constraints: f.constraints, tally: f.tally, state: append([]spread(nil), f.state...)}
	for i := range c.state {
		c.state[i].moved = maps.Clone(c.state[i].moved)
	}
	return c
}

func selects(c *constraint, pod *v1.Pod) int64 {
	if c.selector.Matches(labels.Set(pod.Labels)) {
		return 1
	}
	return 0
}

// Hints implements framework.Hinter.
func (Plugin) Hints() []framework.Hint {
	return []framework.Hint{
		{On: framework.AssignedPodAdd | framework.AssignedPodDelete | framework.AssignedPodLabelUpdate, Helps: concerns},
		{On: framework.NodeAdd | framework.NodeDelete | framework.NodeLabelUpdate | framework.NodeTaintUpdate | framework.PodUpdate},
	}
}

// concerns reports whether the pod that changed is one that a constraint counts.
func concerns(waiting *v1.Pod, change framework.Change) bool {
	for _, obj := range []any{change.Old, change.New} {
		pod, ok := obj.(*v1.Pod)
		if !ok || pod.Namespace != waiting.Namespace {
			continue
		}
		for i := range waiting.Spec.TopologySpreadConstraints {
			c, err := parse(waiting, &waiting.Spec.TopologySpreadConstraints[i])
			if err != nil || selects(&c, pod) == 1 {
				return true
			}
		}
	}
	return false
}
