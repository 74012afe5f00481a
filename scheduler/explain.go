package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins/defaultpreemption"
	"github.com/kubesim/kubesim/scheduler/profile"
	"github.com/kubesim/kubesim/scheduler/queue"
	"github.com/kubesim/kubesim/trace"
)

// maxExplained is how many nodes the table in the trace has.
const maxExplained = 20

// NodeVerdict is a row of the table of nodes and plugins, which a "schedule"
// span has as trace.Nodes.
type NodeVerdict struct {
	Node     string        `json:"node"`
	Chosen   bool          `json:"chosen,omitempty"`
	Rejected string        `json:"rejected,omitempty"` // the plugin that did
	Reasons  []string      `json:"reasons,omitempty"`
	Score    int64         `json:"score,omitempty"` // the weighted sum
	Scores   []PluginScore `json:"scores,omitempty"`
	Victims  []string      `json:"victims,omitempty"` // pods to be preempted there
}

// PluginScore is what a plugin gave a node: as scored, brought into 0 to 100,
// and its weight in the sum.
type PluginScore struct {
	Plugin     string `json:"plugin"`
	Raw        int64  `json:"raw"`
	Normalized int64  `json:"normalized"`
	Weight     int64  `json:"weight"`
}

// startSpan begins the span of an attempt, which ends when its outcome is written.
func (s *scheduler) startSpan(ctx context.Context, p *queue.Pod) (context.Context, oteltrace.Span) {
	pod := p.Info.Pod
	attributes := []attribute.KeyValue{
		trace.Component.String(component),
		trace.Object.String(trace.ObjectName("pods", "", pod.Namespace, pod.Name)),
		trace.UID.String(string(pod.UID)),
		trace.Woke.Int64(p.Woke.Revision),
		trace.WokeObject.String(p.Woke.Object),
	}
	return s.tracer.Start(ctx, "schedule", oteltrace.WithAttributes(attributes...))
}

// explain puts the table into the span: the chosen node, then other feasible
// ones, then rejected ones.
func explain(span oteltrace.Span, snapshot *framework.Snapshot, diagnosis *framework.Diagnosis, scores profile.Scores, chosen string, preempted *defaultpreemption.Candidate) {
	if !span.IsRecording() {
		return
	}
	var rows []NodeVerdict
	for i, node := range scores.Nodes {
		switch name := node.Name(); {
		case name == chosen:
			row := feasibleRow(scores, i)
			row.Chosen = true
			rows = append([]NodeVerdict{row}, rows[:min(len(rows), maxExplained-1)]...)
		case len(rows) < maxExplained:
			rows = append(rows, feasibleRow(scores, i))
		}
	}
	nodes := snapshot.Nodes
	if preempted != nil { // it must not be among those left out
		nodes = append([]*framework.NodeInfo{snapshot.Node(preempted.Node)}, nodes...)
	}
	for _, node := range nodes {
		if len(rows) >= maxExplained {
			break
		}
		known := slices.ContainsFunc(rows, func(row NodeVerdict) bool { return row.Node == node.Name() })
		if status := diagnosis.Status(node); status != nil && !known {
			row := NodeVerdict{Node: node.Name(), Rejected: status.Plugin, Reasons: status.Reasons}
			if preempted != nil && preempted.Node == node.Name() {
				row.Victims = victims(preempted)
			}
			rows = append(rows, row)
		}
	}
	table, err := json.Marshal(rows)
	if err != nil {
		return // no such value exists among the fields
	}
	span.SetAttributes(trace.Nodes.String(string(table)))
}

func victims(c *defaultpreemption.Candidate) []string {
	var names []string
	for _, v := range c.Victims {
		names = append(names, fmt.Sprintf("%s with priority %d", key(v.Pod), v.Priority))
	}
	return names
}

func feasibleRow(scores profile.Scores, i int) NodeVerdict {
	row := NodeVerdict{Node: scores.Nodes[i].Name()}
	if scores.Totals != nil {
		row.Score = scores.Totals[i]
	}
	for _, p := range scores.Plugins {
		row.Scores = append(row.Scores, PluginScore{p.Plugin, p.Raw[i], p.Normalized[i], p.Weight})
	}
	return row
}
