package profile

import (
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins"
)

// maxLocalScores bounds the local plugins whose scores are remembered; further
// ones are asked each time.
const maxLocalScores = 8

// Profile is an ordered set of plugins under the name that pods ask for.
type Profile struct {
	Name string // spec.schedulerName

	filters    []framework.FilterPlugin
	locals     int // how many of filters, from the first, are local
	scores     []scoreRow
	preEnqueue []framework.PreEnqueuePlugin
	preparers  []framework.BindPreparer
	hints      map[string][]framework.Hint

	memos    map[string]*memo
	attempts int64
	buffer   []int64 // scores of the attempt under way
}

type scoreRow struct {
	plugin framework.ScorePlugin
	weight int64
	memo   int // place in scoreMemo.raw; -1 if not local
}

// New returns a profile of rows, whose order is that of the filters.
func New(name string, rows []plugins.Row) *Profile {
	p := &Profile{Name: name, hints: map[string][]framework.Hint{}, memos: map[string]*memo{}}
	allLocal, localScores := true, 0
	for _, row := range rows {
		if f, ok := row.Plugin.(framework.FilterPlugin); ok && row.Off&plugins.Filter == 0 {
			p.filters = append(p.filters, f)
			if allLocal = allLocal && row.Local; allLocal {
				p.locals++
			}
		}
		if s, ok := row.Plugin.(framework.ScorePlugin); ok && row.Weight > 0 && row.Off&plugins.Score == 0 {
			r := scoreRow{plugin: s, weight: row.Weight, memo: -1}
			if row.Local && localScores < maxLocalScores {
				r.memo = localScores
				localScores++
			}
			p.scores = append(p.scores, r)
		}
		if e, ok := row.Plugin.(framework.PreEnqueuePlugin); ok && row.Off&plugins.PreEnqueue == 0 {
			p.preEnqueue = append(p.preEnqueue, e)
		}
		if b, ok := row.Plugin.(framework.BindPreparer); ok && row.Off&plugins.Reserve == 0 {
			p.preparers = append(p.preparers, b)
		}
		if h, ok := row.Plugin.(framework.Hinter); ok {
			p.hints[row.Plugin.Name()] = h.Hints()
		}
	}
	return p
}

// Hints by plugin.
func (p *Profile) Hints() map[string][]framework.Hint { return p.hints }

// PreEnqueue says why a pod may not be tried yet; nil if it may.
func (p *Profile) PreEnqueue(pod *v1.Pod) *framework.Status {
	for _, plugin := range p.preEnqueue {
		if s := plugin.PreEnqueue(pod); !s.OK() {
			return s
		}
	}
	return nil
}

// Reserve lets plugins set aside what the pod needs on its node. It returns
// those whose PreBind must be called.
func (p *Profile) Reserve(pod *framework.PodInfo, node *framework.NodeInfo) ([]framework.BindPreparer, error) {
	var slow []framework.BindPreparer
	for _, plugin := range p.preparers {
		needed, err := plugin.Reserve(pod, node)
		if err != nil {
			p.Unreserve(pod)
			return nil, fmt.Errorf("running Reserve plugin %q: %w", plugin.Name(), err)
		}
		if needed {
			slow = append(slow, plugin)
		}
	}
	return slow, nil
}

// Unreserve gives back what Reserve set aside. It may be called from any goroutine.
func (p *Profile) Unreserve(pod *framework.PodInfo) {
	for _, plugin := range p.preparers {
		plugin.Unreserve(pod)
	}
}
