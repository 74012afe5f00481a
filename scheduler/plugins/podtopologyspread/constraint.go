package podtopologyspread

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins/tainttoleration"
)

// constraint is a parsed v1.TopologySpreadConstraint.
type constraint struct {
	maxSkew       int64
	minDomains    int
	topologyKey   string
	selector      labels.Selector
	honorAffinity bool // count only nodes that the pod selects
	honorTaints   bool // count only nodes whose taints the pod tolerates
}

// constraints of one pod with the same consequence.
type constraints struct {
	pod  *framework.PodInfo
	list []constraint
	// requireAll leaves nodes out of account that lack one of the topology
	// labels. It is not set for the default constraints, so that pods spread
	// over nodes also where there are no zones.
	requireAll bool
	affinity   nodeaffinity.RequiredNodeAffinity
}

// own parses the pod's constraints with that consequence. One that does not
// parse, which the API server does not let in, is left out.
func own(pod *framework.PodInfo, action v1.UnsatisfiableConstraintAction) *constraints {
	c := &constraints{pod: pod, requireAll: true, affinity: nodeaffinity.GetRequiredNodeAffinity(pod.Pod)}
	for i := range pod.Pod.Spec.TopologySpreadConstraints {
		spec := &pod.Pod.Spec.TopologySpreadConstraints[i]
		if spec.WhenUnsatisfiable != action {
			continue
		}
		if parsed, err := parse(pod.Pod, spec); err == nil {
			c.list = append(c.list, parsed)
		}
	}
	return c
}

func parse(pod *v1.Pod, spec *v1.TopologySpreadConstraint) (constraint, error) {
	selector, err := metav1.LabelSelectorAsSelector(spec.LabelSelector)
	if err != nil {
		return constraint{}, err
	}
	for _, key := range spec.MatchLabelKeys {
		value, ok := pod.Labels[key]
		if !ok {
			continue
		}
		requirement, err := labels.NewRequirement(key, selection.In, []string{value})
		if err != nil {
			return constraint{}, err
		}
		selector = selector.Add(*requirement)
	}
	c := constraint{
		maxSkew:       int64(spec.MaxSkew),
		minDomains:    1,
		topologyKey:   spec.TopologyKey,
		selector:      selector,
		honorAffinity: spec.NodeAffinityPolicy == nil || *spec.NodeAffinityPolicy == v1.NodeInclusionPolicyHonor,
		honorTaints:   spec.NodeTaintsPolicy != nil && *spec.NodeTaintsPolicy == v1.NodeInclusionPolicyHonor,
	}
	if spec.MinDomains != nil {
		c.minDomains = int(*spec.MinDomains)
	}
	return c, nil
}

// hasLabels reports whether the node has the topology labels of all constraints.
func (c *constraints) hasLabels(node *v1.Node) bool {
	for i := range c.list {
		if _, ok := node.Labels[c.list[i].topologyKey]; !ok {
			return false
		}
	}
	return true
}

// counts reports whether the i-th constraint takes the node into account.
func (c *constraints) counts(i int, node *v1.Node) bool {
	if c.list[i].honorAffinity {
		if match, _ := c.affinity.Match(node); !match {
			return false
		}
	}
	return !c.list[i].honorTaints || tainttoleration.Fits(c.pod.Pod.Spec.Tolerations, node.Spec.Taints)
}

// key is equal for pods whose constraints count the same.
func (c *constraints) key() string {
	if c.pod.Signature == "" {
		return ""
	}
	type part struct {
		Key, Selector string
		Policies      [2]bool
	}
	parts := make([]part, len(c.list))
	for i, l := range c.list {
		parts[i] = part{l.topologyKey, l.selector.String(), [2]bool{l.honorAffinity, l.honorTaints}}
	}
	key, err := json.Marshal(struct {
		Signature, Namespace string
		RequireAll           bool
		Parts                []part
	}{c.pod.Signature, c.pod.Pod.Namespace, c.requireAll, parts})
	if err != nil {
		return ""
	}
	return string(key)
}

// matching counts the pods of a namespace that a selector means. Those on
// their way out do not count.
func matching(pods []*framework.PodInfo, selector labels.Selector, namespace string) int64 {
	if selector.Empty() {
		return 0
	}
	var n int64
	for _, p := range pods {
		if p.Pod.Namespace == namespace && p.Pod.DeletionTimestamp == nil && selector.Matches(labels.Set(p.Pod.Labels)) {
			n++
		}
	}
	return n
}
