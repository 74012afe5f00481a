package trial

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler/framework"
)

// Bounds of the search, so that it ends soon in large clusters.
const (
	maxNodesTried = 50
	maxCombined   = 3 // changes that are needed together
	maxFixes      = 6 // told
)

// Fix is a smallest set of changes that would let a pod onto some node.
type Fix struct {
	Changes []string // in words
	Node    string   // onto which it then fits
}

func (f Fix) String() string { return strings.Join(f.Changes, " and ") }

// change is one thing that could be otherwise. Either half may be nil.
type change struct {
	text string
	pod  func(*v1.Pod)
	node func(*v1.Node)
	// Of changes with the same key only that with the highest rank is told:
	// lowering a request to 2 needs no mention of lowering it to 1.
	key  string
	rank int64
}

// Fixes finds the smallest changes that would let the pod in, and has made sure
// of each by asking all plugins again with the change made.
func (c *Cluster) Fixes(pod *v1.Pod, table *Table) []Fix {
	if table.Rejected != nil {
		return preFilterFixes(pod, table.Rejected)
	}
	if table.Feasible() > 0 {
		return nil
	}
	verdicts := slices.Clone(table.Nodes)
	slices.SortStableFunc(verdicts, func(a, b Verdict) int { return len(a.Rejections) - len(b.Rejections) })
	found := map[string]found{}
	fewest := maxCombined + 1
	for i, v := range verdicts {
		if i == maxNodesTried || len(v.Rejections) > fewest {
			break
		}
		for _, changes := range combinations(pod, c.snapshot.Node(v.Node), v.Rejections) {
			if len(changes) > fewest || !c.lets(pod, v.Node, changes) {
				continue
			}
			if len(changes) < fewest {
				fewest = len(changes)
				clear(found)
			}
			keep(found, v.Node, changes)
		}
	}
	return told(found)
}

// found is a fix with what decides between it and others.
type found struct {
	Fix
	rank int64
}

func keep(all map[string]found, node string, changes []change) {
	f := found{Fix: Fix{Node: node}}
	var keys []string
	for _, c := range changes {
		f.Changes = append(f.Changes, c.text)
		f.rank += c.rank
		keys = append(keys, cmp.Or(c.key, c.text))
	}
	key := strings.Join(keys, "\n")
	if old, ok := all[key]; !ok || f.rank > old.rank {
		all[key] = f
	}
}

func told(all map[string]found) []Fix {
	var fixes []Fix
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fixes = append(fixes, all[key].Fix)
	}
	return fixes[:min(len(fixes), maxFixes)]
}

// combinations picks one change for each rejection, in all ways.
func combinations(pod *v1.Pod, node *framework.NodeInfo, rejections []*framework.Status) [][]change {
	all := [][]change{nil}
	for _, rejection := range rejections {
		var longer [][]change
		for _, alternative := range alternatives(pod, node, rejection) {
			for _, c := range all {
				longer = append(longer, joined(c, alternative))
			}
		}
		all = longer
	}
	return all
}

// joined leaves out what is there already: one change may please two plugins.
func joined(changes, more []change) []change {
	changes = slices.Clip(changes)
	for _, c := range more {
		if !slices.ContainsFunc(changes, func(have change) bool { return have.text == c.text }) {
			changes = append(changes, c)
		}
	}
	return changes
}

// lets makes the changes in thought and asks whether the pod fits the node then.
func (c *Cluster) lets(pod *v1.Pod, name string, changes []change) bool {
	pod = pod.DeepCopy()
	nodes := slices.Clone(c.snapshot.Nodes)
	at := slices.IndexFunc(nodes, func(n *framework.NodeInfo) bool { return n.Name() == name })
	changed := nodes[at].Clone()
	node := changed.Node.DeepCopy()
	for _, change := range changes {
		if change.pod != nil {
			change.pod(pod)
		}
		if change.node != nil {
			change.node(node)
		}
	}
	changed.SetNode(node)
	nodes[at] = changed
	info, err := framework.NewPendingPodInfo(pod)
	if err != nil {
		return false
	}
	info.Signature = "" // not for the memory of later attempts
	attempt, status := c.profile.Start(info, framework.NewSnapshot(nodes...))
	return status.OK() && len(attempt.Rejections(changed)) == 0
}

// preFilterFixes are for a pod that is turned away as such. Nothing can be tried.
func preFilterFixes(pod *v1.Pod, status *framework.Status) []Fix {
	switch status.Plugin {
	case "SchedulingGates":
		var fixes []string
		for _, gate := range pod.Spec.SchedulingGates {
			fixes = append(fixes, "remove scheduling gate "+gate.Name)
		}
		return []Fix{{Changes: fixes}}
	case "VolumeBinding", "VolumeRestrictions", "VolumeZone":
		return []Fix{{Changes: []string{fmt.Sprintf("settle its claim: %s", status.Message())}}}
	}
	return nil
}
