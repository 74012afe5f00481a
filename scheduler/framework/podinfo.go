package framework

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
)

// PodInfo is a pod with everything that scheduling would otherwise work out
// again for each node.
type PodInfo struct {
	Pod       *v1.Pod
	Requests  Resource // of a pod to be placed, by its spec
	Usage     Resource // of a pod on a node, resizes counted
	NonZero   Resource // Usage with defaults for missing cpu and memory requests
	HostPorts []HostPort
	Priority  int32

	RequiredAffinity      []AffinityTerm
	RequiredAntiAffinity  []AffinityTerm
	PreferredAffinity     []WeightedAffinityTerm
	PreferredAntiAffinity []WeightedAffinityTerm

	// Signature is equal for pods that every plugin marked Local judges alike.
	// It is set for pods to be placed, not for those on a node.
	Signature string
}

// NewPodInfo works out a pod. An error means that an affinity term does not parse.
func NewPodInfo(pod *v1.Pod) (*PodInfo, error) {
	p := &PodInfo{
		Pod:       pod,
		Usage:     podUsage(pod),
		NonZero:   podNonZeroUsage(pod),
		HostPorts: podHostPorts(pod),
		Priority:  corev1helpers.PodPriority(pod),
	}
	err := p.parseAffinity()
	return p, err
}

// NewPendingPodInfo works out a pod that is to be placed.
func NewPendingPodInfo(pod *v1.Pod) (*PodInfo, error) {
	p, err := NewPodInfo(pod)
	p.Requests = PodRequests(pod)
	p.Signature = p.signature()
	return p, err
}

// OnNode returns the pod as it will be once bound to node.
func (p *PodInfo) OnNode(node string) *PodInfo {
	placed := *p
	pod := *p.Pod // the spec's slices are shared, and read-only
	pod.Spec.NodeName = node
	placed.Pod = &pod
	return &placed
}

func (p *PodInfo) signature() string {
	spec := &p.Pod.Spec
	var nodeAffinity *v1.NodeAffinity
	if spec.Affinity != nil {
		nodeAffinity = spec.Affinity.NodeAffinity
	}
	key, err := json.Marshal(struct {
		Requests, NonZero Resource
		HostPorts         []HostPort
		NodeName          string
		NodeSelector      map[string]string
		NodeAffinity      *v1.NodeAffinity
		Tolerations       []v1.Toleration
	}{p.Requests, p.NonZero, p.HostPorts, spec.NodeName, spec.NodeSelector, nodeAffinity, spec.Tolerations})
	if err != nil {
		return "" // shares nothing
	}
	return string(key)
}

// AffinityTerm is a parsed v1.PodAffinityTerm.
type AffinityTerm struct {
	Namespaces        sets.Set[string]
	NamespaceSelector labels.Selector
	Selector          labels.Selector
	TopologyKey       string
}

// WeightedAffinityTerm is a preferred term; Weight is 1 to 100.
type WeightedAffinityTerm struct {
	AffinityTerm
	Weight int32
}

// Matches reports whether the term means pod, whose namespace has the labels nsLabels.
func (t *AffinityTerm) Matches(pod *v1.Pod, nsLabels labels.Set) bool {
	if !t.Namespaces.Has(pod.Namespace) && !t.NamespaceSelector.Matches(nsLabels) {
		return false
	}
	return t.Selector.Matches(labels.Set(pod.Labels))
}

func (p *PodInfo) parseAffinity() error {
	affinity := p.Pod.Spec.Affinity
	if affinity == nil {
		return nil
	}
	var err error
	if a := affinity.PodAffinity; a != nil {
		if p.RequiredAffinity, err = parseTerms(p.Pod, a.RequiredDuringSchedulingIgnoredDuringExecution); err != nil {
			return fmt.Errorf("parsing required pod affinity: %w", err)
		}
		if p.PreferredAffinity, err = parseWeighted(p.Pod, a.PreferredDuringSchedulingIgnoredDuringExecution); err != nil {
			return fmt.Errorf("parsing preferred pod affinity: %w", err)
		}
	}
	if a := affinity.PodAntiAffinity; a != nil {
		if p.RequiredAntiAffinity, err = parseTerms(p.Pod, a.RequiredDuringSchedulingIgnoredDuringExecution); err != nil {
			return fmt.Errorf("parsing required pod anti-affinity: %w", err)
		}
		if p.PreferredAntiAffinity, err = parseWeighted(p.Pod, a.PreferredDuringSchedulingIgnoredDuringExecution); err != nil {
			return fmt.Errorf("parsing preferred pod anti-affinity: %w", err)
		}
	}
	return nil
}

func parseTerms(pod *v1.Pod, terms []v1.PodAffinityTerm) ([]AffinityTerm, error) {
	var parsed []AffinityTerm
	for i := range terms {
		t, err := parseTerm(pod, &terms[i])
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, t)
	}
	return parsed, nil
}

func parseWeighted(pod *v1.Pod, terms []v1.WeightedPodAffinityTerm) ([]WeightedAffinityTerm, error) {
	var parsed []WeightedAffinityTerm
	for i := range terms {
		t, err := parseTerm(pod, &terms[i].PodAffinityTerm)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, WeightedAffinityTerm{AffinityTerm: t, Weight: terms[i].Weight})
	}
	return parsed, nil
}

// parseTerm leaves matchLabelKeys out: the API server merges them into the selector.
func parseTerm(pod *v1.Pod, term *v1.PodAffinityTerm) (AffinityTerm, error) {
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	if err != nil {
		return AffinityTerm{}, err
	}
	namespaceSelector, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector)
	if err != nil {
		return AffinityTerm{}, err
	}
	namespaces := sets.New(term.Namespaces...)
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		namespaces.Insert(pod.Namespace)
	}
	return AffinityTerm{
		Namespaces:        namespaces,
		NamespaceSelector: namespaceSelector,
		Selector:          selector,
		TopologyKey:       term.TopologyKey,
	}, nil
}
