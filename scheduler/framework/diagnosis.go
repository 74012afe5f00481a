package framework

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
)

// Diagnosis says why a pod fits nowhere.
type Diagnosis struct {
	// Absent is the status of the nodes that none was set for.
	Absent *Status
	// PreFilter is set when the pod was rejected as such, before any node was looked at.
	PreFilter *Status
	// PostFilter is what preemption has to say.
	PostFilter string
	// Plugins that rejected the pod somewhere: their events may help.
	Plugins sets.Set[string]

	nodes    int
	statuses []*Status // by NodeInfo.Index; nil until one is set
}

// NewDiagnosis returns an empty diagnosis for a cluster of so many nodes.
func NewDiagnosis(nodes int) *Diagnosis {
	return &Diagnosis{Plugins: sets.New[string](), nodes: nodes}
}

// NumNodes is the size of the cluster.
func (d *Diagnosis) NumNodes() int { return d.nodes }

// Set records the verdict on a node.
func (d *Diagnosis) Set(node *NodeInfo, s *Status) {
	if d.statuses == nil {
		d.statuses = make([]*Status, d.nodes)
	}
	d.statuses[node.Index] = s
	if !d.Plugins.Has(s.Plugin) {
		d.Plugins.Insert(s.Plugin)
	}
}

// Status returns the verdict on a node; nil if nothing speaks against it.
func (d *Diagnosis) Status(node *NodeInfo) *Status {
	if d.statuses == nil || d.statuses[node.Index] == nil {
		return d.Absent
	}
	return d.statuses[node.Index]
}

// Message is the sentence that users know: "0/3 nodes are available: 1
// Insufficient cpu, …". Reasons are sorted as text, numbers included.
func (d *Diagnosis) Message() string {
	var b strings.Builder
	fmt.Fprintf(&b, "0/%d nodes are available:", d.NumNodes())
	if d.PreFilter != nil {
		fmt.Fprintf(&b, " %s.", d.PreFilter.Message())
	} else if reasons := d.reasons(); len(reasons) > 0 {
		fmt.Fprintf(&b, " %s.", strings.Join(reasons, ", "))
	}
	if d.PostFilter != "" {
		b.WriteString(" " + d.PostFilter)
	}
	return b.String()
}

func (d *Diagnosis) reasons() []string {
	counts := map[*Status]int{} // nodes mostly share a few statuses
	absent := d.nodes
	for _, s := range d.statuses {
		if s != nil {
			counts[s]++
			absent--
		}
	}
	if d.Absent != nil && absent > 0 {
		counts[d.Absent] += absent
	}
	histogram := map[string]int{}
	for s, n := range counts {
		for _, reason := range s.Reasons {
			histogram[reason] += n
		}
	}
	lines := make([]string, 0, len(histogram))
	for reason, n := range histogram {
		lines = append(lines, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(lines)
	return lines
}
