package profile

import "github.com/kubesim/kubesim/scheduler/framework"

// Scores of the feasible nodes. It is valid until the next attempt.
type Scores struct {
	Nodes   []*framework.NodeInfo
	Totals  []int64 // weighted sum by node
	Plugins []PluginScores
}

// PluginScores is what one plugin gave.
type PluginScores struct {
	Plugin     string
	Weight     int64
	Raw        []int64 // by node, as scored
	Normalized []int64 // by node, 0 to 100
}

// Score lets the plugins score the feasible nodes.
func (a *Attempt) Score(feasible []*framework.NodeInfo) Scores {
	p, n := a.profile, len(feasible)
	size := (1 + 2*len(p.scores)) * n
	if cap(p.buffer) < size {
		p.buffer = make([]int64, size)
	}
	buffer := p.buffer[:size]
	next := func() []int64 {
		s := buffer[:n:n]
		buffer = buffer[n:]
		return s
	}
	scores := Scores{Nodes: feasible, Totals: next()}
	clear(scores.Totals)
	scorers := make([]framework.PodScorer, len(p.scores))
	raw := make([][]int64, len(p.scores))
	for i, row := range p.scores {
		if scorers[i] = row.plugin.PreScore(a.Pod, a.Snapshot, feasible); scorers[i] != nil {
			raw[i] = next()
		}
	}
	for i, node := range feasible {
		a.scoreNode(node, scorers, func(row int, score int64) { raw[row][i] = score })
	}
	for i, row := range p.scores {
		if scorers[i] == nil {
			continue
		}
		normalized := next()
		copy(normalized, raw[i])
		if normalizer, ok := scorers[i].(framework.Normalizer); ok {
			normalizer.Normalize(feasible, normalized)
		}
		for j, score := range normalized {
			scores.Totals[j] += row.weight * score
		}
		scores.Plugins = append(scores.Plugins, PluginScores{row.plugin.Name(), row.weight, raw[i], normalized})
	}
	return scores
}

// scoreNode calls set with the raw score of each plugin that has one.
func (a *Attempt) scoreNode(node *framework.NodeInfo, scorers []framework.PodScorer, set func(row int, score int64)) {
	var known *scoreMemo
	fresh := false
	if a.memo != nil {
		known = &a.memo.scores[node.Index]
		fresh = known.generation == node.Generation
		known.generation = node.Generation
	}
	for row, scorer := range scorers {
		if scorer == nil {
			continue
		}
		slot := a.profile.scores[row].memo
		if known == nil || slot < 0 {
			set(row, scorer.Score(node))
			continue
		}
		if !fresh {
			known.raw[slot] = scorer.Score(node)
		}
		set(row, known.raw[slot])
	}
}
