package framework

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
)

// Diagnosis says why a pod fits nowhere.
type Diagnosis struct {
	NumNodes int
	// Statuses by node. A node without an entry has status Absent.
	Statuses map[string]*Status
	Absent   *Status
	// PreFilter is set when the pod was rejected as such, before any node was looked at.
	PreFilter *Status
	// PostFilter is what preemption has to say.
	PostFilter string
	// Plugins that rejected the pod somewhere: their events may help.
	Plugins sets.Set[string]
}

// NewDiagnosis returns an empty diagnosis for a cluster of so many nodes.
func NewDiagnosis(numNodes int) *Diagnosis {
	return &Diagnosis{NumNodes: numNodes, Statuses: map[string]*Status{}, Plugins: sets.New[string]()}
}

// Set records the verdict on a node.
func (d *Diagnosis) Set(node string, s *Status) {
	d.Statuses[node] = s
	d.Plugins.Insert(s.Plugin)
}

// Status returns the verdict on a node.
func (d *Diagnosis) Status(node string) *Status {
	if s, ok := d.Statuses[node]; ok {
		return s
	}
	return d.Absent
}

// Message is the sentence that users know: "0/3 nodes are available: 1
// Insufficient cpu, …". Reasons are sorted as text, numbers included.
func (d *Diagnosis) Message() string {
	var b strings.Builder
	fmt.Fprintf(&b, "0/%d nodes are available:", d.NumNodes)
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
	for _, s := range d.Statuses {
		counts[s]++
	}
	if absent := d.NumNodes - len(d.Statuses); absent > 0 && d.Absent != nil {
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
