package noderesources

import (
	"math"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// BalancedName is the name of the plugin BalancedAllocation.
const BalancedName = "NodeResourcesBalancedAllocation"

// BalancedAllocation implements framework.ScorePlugin. It looks at cpu and
// memory if Resources is empty.
type BalancedAllocation struct {
	Resources []v1.ResourceName
}

// Name implements framework.Plugin.
func (BalancedAllocation) Name() string { return BalancedName }

// PreScore implements framework.ScorePlugin. A pod without requests has no
// preference: it would be drawn to one and the same node again and again.
func (b BalancedAllocation) PreScore(pod *framework.PodInfo, _ *framework.Snapshot, _ []*framework.NodeInfo) framework.PodScorer {
	resources := b.Resources
	if len(resources) == 0 {
		resources = []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory}
	}
	for _, name := range resources {
		if pod.Requests.Get(name) != 0 {
			return balancedScorer{resources, &pod.Requests}
		}
	}
	return nil
}

type balancedScorer struct {
	resources []v1.ResourceName
	request   *framework.Resource
}

func (s balancedScorer) Score(node *framework.NodeInfo) int64 {
	var buffer [4]float64
	fractions := buffer[:0]
	for _, name := range s.resources {
		if capacity := node.Allocatable.Get(name); capacity > 0 {
			used := node.Requested.Get(name) + s.request.Get(name)
			fractions = append(fractions, float64(used)/float64(capacity))
		}
	}
	return Balance(fractions)
}

// Balance is 100 minus the standard deviation, in percent, of the used
// fractions of a node's resources. Fractions above 1 count as 1.
func Balance(fractions []float64) int64 {
	if len(fractions) < 2 {
		return framework.MaxNodeScore
	}
	var mean float64
	for i := range fractions {
		fractions[i] = min(fractions[i], 1)
		mean += fractions[i] / float64(len(fractions))
	}
	if len(fractions) == 2 { // the usual case, without rounding on the way
		return int64((1 - math.Abs(fractions[0]-fractions[1])/2) * float64(framework.MaxNodeScore))
	}
	var variance float64
	for _, f := range fractions {
		variance += (f - mean) * (f - mean) / float64(len(fractions))
	}
	return int64((1 - math.Sqrt(variance)) * float64(framework.MaxNodeScore))
}
