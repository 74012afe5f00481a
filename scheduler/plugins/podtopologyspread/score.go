package podtopologyspread

import (
	"math"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// PreScore implements framework.ScorePlugin.
func (pl Plugin) PreScore(pod *framework.PodInfo, snapshot *framework.Snapshot, feasible []*framework.NodeInfo) framework.PodScorer {
	var c *constraints
	if len(pod.Pod.Spec.TopologySpreadConstraints) > 0 {
		c = own(pod, v1.ScheduleAnyway)
	} else {
		c = pl.defaults(pod, v1.ScheduleAnyway)
	}
	if c == nil || len(c.list) == 0 {
		return nil
	}
	s := &scorer{
		constraints: c,
		tally:       pl.tallies.count(c, snapshot),
		weights:     make([]float64, len(c.list)),
	}
	s.weigh(feasible)
	return s
}

type scorer struct {
	*constraints
	tally   *tally
	weights []float64 // by constraint
}

// weigh gives constraints over more domains more weight, in which a pod more or
// less makes less of a difference.
func (s *scorer) weigh(feasible []*framework.NodeInfo) {
	used := 0
	values := make([]map[string]struct{}, len(s.list))
	for _, node := range feasible {
		if s.ignores(node) {
			continue
		}
		used++
		for i := range s.list {
			if s.list[i].topologyKey == v1.LabelHostname {
				continue // as many as nodes
			}
			if values[i] == nil {
				values[i] = map[string]struct{}{}
			}
			values[i][s.tally.at(i, node).value] = struct{}{}
		}
	}
	for i := range s.list {
		domains := len(values[i])
		if s.list[i].topologyKey == v1.LabelHostname {
			domains = used
		}
		s.weights[i] = math.Log(float64(domains + 2))
	}
}

// ignores reports whether a node is out of account for lack of a label.
func (s *scorer) ignores(node *framework.NodeInfo) bool {
	return s.requireAll && !s.hasLabels(node.Node)
}

// Score sums what is in the node's domains already: less is better.
func (s *scorer) Score(node *framework.NodeInfo) int64 {
	if s.ignores(node) {
		return 0
	}
	var score float64
	for i := range s.list {
		c := &s.list[i]
		n := s.tally.at(i, node)
		if !n.labelled {
			continue
		}
		var pods int64
		if c.topologyKey == v1.LabelHostname {
			pods = n.pods
		} else if domain := s.tally.domains[i][n.value]; domain != nil {
			pods = domain.pods
		}
		score += float64(pods)*s.weights[i] + float64(c.maxSkew-1)
	}
	return int64(math.Round(score))
}

// Normalize turns the scores round. Ignored nodes get the least.
func (s *scorer) Normalize(nodes []*framework.NodeInfo, scores []int64) {
	lowest, highest := int64(math.MaxInt64), int64(0)
	for i, node := range nodes {
		if !s.ignores(node) {
			lowest, highest = min(lowest, scores[i]), max(highest, scores[i])
		}
	}
	for i, node := range nodes {
		switch {
		case s.ignores(node):
			scores[i] = 0
		case highest == 0:
			scores[i] = framework.MaxNodeScore
		default:
			scores[i] = framework.MaxNodeScore * (highest + lowest - scores[i]) / highest
		}
	}
}
