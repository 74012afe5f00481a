package noderesources

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Strategy says which nodes Fit prefers. The zero value is Kubernetes'
// default: least allocated, cpu and memory alike.
type Strategy struct {
	Type      StrategyType
	Resources []WeightedResource // cpu and memory with weight 1 if empty
	Shape     []ShapePoint       // of RequestedToCapacityRatio, utilization rising
}

// StrategyType as in NodeResourcesFitArgs.
type StrategyType string

// The types of strategy; the empty one is LeastAllocated.
const (
	LeastAllocated           StrategyType = "LeastAllocated"
	MostAllocated            StrategyType = "MostAllocated"
	RequestedToCapacityRatio StrategyType = "RequestedToCapacityRatio"
)

// WeightedResource is a resource that a strategy looks at.
type WeightedResource struct {
	Name   v1.ResourceName
	Weight int64
}

// ShapePoint is the score (0 to 10) at a utilization in percent.
type ShapePoint struct {
	Utilization, Score int64
}

func (s Strategy) resources() []WeightedResource {
	if len(s.Resources) > 0 {
		return s.Resources
	}
	return []WeightedResource{{v1.ResourceCPU, 1}, {v1.ResourceMemory, 1}}
}

// Score of a node, 0 to 100: the weighted mean over the strategy's resources.
// Cpu and memory of containers without requests count with the defaults, so
// that such pods spread too.
func Score(s Strategy, pod *framework.PodInfo, node *framework.NodeInfo) int64 {
	var sum, weights int64
	for _, r := range s.resources() {
		requested, used := pod.Requests.Get(r.Name), node.Requested.Get(r.Name)
		if r.Name == v1.ResourceCPU || r.Name == v1.ResourceMemory {
			requested, used = pod.NonZero.Get(r.Name), node.NonZero.Get(r.Name)
		} else if requested == 0 && r.Name != v1.ResourceEphemeralStorage {
			continue // an extended resource that the pod does not want
		}
		capacity := node.Allocatable.Get(r.Name)
		if capacity == 0 {
			continue
		}
		sum += r.Weight * s.scoreOne(requested+used, capacity)
		weights += r.Weight
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

func (s Strategy) scoreOne(used, capacity int64) int64 {
	switch s.Type {
	case MostAllocated:
		return min(used, capacity) * framework.MaxNodeScore / capacity
	case RequestedToCapacityRatio:
		if used > capacity {
			return interpolate(s.Shape, 100)
		}
		return interpolate(s.Shape, 100*used/capacity)
	default:
		return max(capacity-used, 0) * framework.MaxNodeScore / capacity
	}
}

// interpolate reads the broken line through shape at utilization, in 0 to 100.
func interpolate(shape []ShapePoint, utilization int64) int64 {
	const scale = framework.MaxNodeScore / 10
	for i, p := range shape {
		if utilization > p.Utilization {
			continue
		}
		if i == 0 {
			return p.Score * scale
		}
		q := shape[i-1]
		rise := (p.Score - q.Score) * scale * (utilization - q.Utilization) / (p.Utilization - q.Utilization)
		return q.Score*scale + rise
	}
	if len(shape) == 0 {
		return 0
	}
	return shape[len(shape)-1].Score * scale
}
