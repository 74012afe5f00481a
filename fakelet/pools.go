package fakelet

import (
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// priceAnnotation says what a node of a pool costs.
const priceAnnotation = "kubesim.io/price"

// poolLabel says which pool a node comes from.
const poolLabel = "kubesim.io/pool"

// Pool is a number of nodes that are alike, NAME-1 to NAME-COUNT.
type Pool struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	// CPU and Memory are the size of a node, 4 and 8Gi if "".
	CPU    resource.Quantity `json:"cpu,omitempty"`
	Memory resource.Quantity `json:"memory,omitempty"`
	// Pods is how many pods a node takes, 110 if 0.
	Pods int64 `json:"pods,omitempty"`
	// Resources are others, such as nvidia.com/gpu.
	Resources corev1.ResourceList `json:"resources,omitempty"`
	// Zones are given out in turn, zone-a to zone-c if there are none.
	Zones  []string          `json:"zones,omitempty"`
	Region string            `json:"region,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Taints []corev1.Taint    `json:"taints,omitempty"`
	// Price is what a node costs an hour, for tools that ask.
	Price string `json:"price,omitempty"`
}

// ParsePools reads pools from YAML: a document with a list named pools.
func ParsePools(data []byte) ([]Pool, error) {
	var file struct {
		Pools []Pool `json:"pools"`
	}
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		return nil, err
	}
	total := 0
	names := map[string]bool{}
	for _, p := range file.Pools {
		switch {
		case len(validation.IsDNS1123Label(p.Name)) > 0:
			return nil, fmt.Errorf("pool %q: %s", p.Name, validation.IsDNS1123Label(p.Name)[0])
		case names[p.Name]:
			return nil, fmt.Errorf("pool %q is there twice", p.Name)
		case p.Count < 0 || p.Count > maxNodes:
			return nil, fmt.Errorf("pool %q: count is %d, must be 0 to %d", p.Name, p.Count, maxNodes)
		}
		names[p.Name] = true
		total += p.Count
	}
	if total > maxNodes {
		return nil, errors.New("the pools have too many nodes")
	}
	return file.Pools, nil
}

// node is the i-th node of a pool, counted from 0.
func (p *Pool) node(i int) *corev1.Node {
	zones := p.Zones
	if len(zones) == 0 {
		zones = []string{"zone-a", "zone-b", "zone-c"}
	}
	node := NewNode(fmt.Sprintf("%s-%d", p.Name, i+1), zones[i%len(zones)])
	node.Labels[poolLabel] = p.Name
	if p.Region != "" {
		node.Labels[corev1.LabelTopologyRegion] = p.Region
	}
	maps.Copy(node.Labels, p.Labels)
	if p.Price != "" {
		metav1.SetMetaDataAnnotation(&node.ObjectMeta, priceAnnotation, p.Price)
	}
	node.Spec.Taints = p.Taints
	capacity := defaultCapacity()
	if !p.CPU.IsZero() {
		capacity[corev1.ResourceCPU] = p.CPU
	}
	if !p.Memory.IsZero() {
		capacity[corev1.ResourceMemory] = p.Memory
	}
	if p.Pods > 0 {
		capacity[corev1.ResourcePods] = *resource.NewQuantity(p.Pods, resource.DecimalSI)
	}
	maps.Copy(capacity, p.Resources)
	node.Status.Capacity, node.Status.Allocatable = capacity, capacity.DeepCopy()
	return node
}
