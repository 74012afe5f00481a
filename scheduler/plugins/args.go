package plugins

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubesim/kubesim/scheduler/plugins/noderesources"
)

// args of all plugins that take some, with kube-scheduler's defaults.
type args struct {
	preemption  configv1.DefaultPreemptionArgs
	podAffinity configv1.InterPodAffinityArgs
	affinity    configv1.NodeAffinityArgs
	fit         configv1.NodeResourcesFitArgs
	balanced    configv1.NodeResourcesBalancedAllocationArgs
	spread      configv1.PodTopologySpreadArgs
	volumes     configv1.VolumeBindingArgs
	devices     configv1.DynamicResourcesArgs
}

// parseArgs reads the arguments that a profile gives its plugins. Fields must be known.
func parseArgs(configs []configv1.PluginConfig) (*args, error) {
	a := &args{}
	into := map[string]any{
		preemption: &a.preemption, "InterPodAffinity": &a.podAffinity, "NodeAffinity": &a.affinity,
		noderesources.FitName: &a.fit, noderesources.BalancedName: &a.balanced, "PodTopologySpread": &a.spread,
		"VolumeBinding": &a.volumes, "DynamicResources": &a.devices,
	}
	for _, c := range configs {
		target, ok := into[c.Name]
		if !ok {
			return nil, fmt.Errorf("pluginConfig: plugin %q takes no arguments", c.Name)
		}
		if err := yaml.UnmarshalStrict(c.Args.Raw, target); err != nil {
			return nil, fmt.Errorf("pluginConfig of %s: %w", c.Name, err)
		}
	}
	a.setDefaults()
	return a, a.validate()
}

func (a *args) setDefaults() {
	setNil(&a.preemption.MinCandidateNodesPercentage, 10)
	setNil(&a.preemption.MinCandidateNodesAbsolute, 100)
	setNil(&a.podAffinity.HardPodAffinityWeight, 1)
	setNil(&a.volumes.BindTimeoutSeconds, 600)
	if a.spread.DefaultingType == "" {
		a.spread.DefaultingType = configv1.SystemDefaulting
	}
	setNil(&a.fit.ScoringStrategy, configv1.ScoringStrategy{Type: configv1.LeastAllocated})
}

func setNil[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func (a *args) validate() error {
	strategies := []configv1.ScoringStrategyType{configv1.LeastAllocated, configv1.MostAllocated, configv1.RequestedToCapacityRatio}
	switch s := a.fit.ScoringStrategy; {
	case !slices.Contains(strategies, s.Type):
		return fmt.Errorf("pluginConfig of %s: scoringStrategy.type: Unsupported value: %q", noderesources.FitName, s.Type)
	case s.Type == configv1.RequestedToCapacityRatio && (s.RequestedToCapacityRatio == nil || len(s.RequestedToCapacityRatio.Shape) == 0):
		return fmt.Errorf("pluginConfig of %s: scoringStrategy.requestedToCapacityRatio.shape: Required value", noderesources.FitName)
	case *a.podAffinity.HardPodAffinityWeight < 0 || *a.podAffinity.HardPodAffinityWeight > 100:
		return fmt.Errorf("pluginConfig of InterPodAffinity: hardPodAffinityWeight: Invalid value: %d: not in valid range [0-100]", *a.podAffinity.HardPodAffinityWeight)
	case a.spread.DefaultingType == configv1.SystemDefaulting && len(a.spread.DefaultConstraints) > 0:
		return fmt.Errorf("pluginConfig of PodTopologySpread: defaultConstraints: must be empty when defaultingType is %s", configv1.SystemDefaulting)
	case *a.volumes.BindTimeoutSeconds < 0:
		return fmt.Errorf("pluginConfig of VolumeBinding: bindTimeoutSeconds: Invalid value: %d: must not be negative", *a.volumes.BindTimeoutSeconds)
	}
	return nil
}

// strategy of NodeResourcesFit.
func (a *args) strategy() noderesources.Strategy {
	s := noderesources.Strategy{Type: noderesources.StrategyType(a.fit.ScoringStrategy.Type)}
	for _, r := range a.fit.ScoringStrategy.Resources {
		s.Resources = append(s.Resources, noderesources.WeightedResource{Name: v1.ResourceName(r.Name), Weight: max(r.Weight, 1)})
	}
	ratio := ptr.Deref(a.fit.ScoringStrategy.RequestedToCapacityRatio, configv1.RequestedToCapacityRatioParam{})
	for _, p := range ratio.Shape {
		s.Shape = append(s.Shape, noderesources.ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score)})
	}
	return s
}

// spreadDefaults are the constraints of pods without any, nil for Kubernetes' own.
func (a *args) spreadDefaults() []v1.TopologySpreadConstraint {
	if a.spread.DefaultingType == configv1.SystemDefaulting {
		return nil
	}
	return append([]v1.TopologySpreadConstraint{}, a.spread.DefaultConstraints...)
}

func (a *args) balancedResources() []v1.ResourceName {
	var resources []v1.ResourceName
	for _, r := range a.balanced.Resources {
		resources = append(resources, v1.ResourceName(r.Name))
	}
	return resources
}
