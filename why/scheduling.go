package why

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	v1 "k8s.io/api/core/v1"

	"github.com/kubesim/kubesim/scheduler"
	"github.com/kubesim/kubesim/scheduler/trial"
	"github.com/kubesim/kubesim/trace"
)

// rowsShown is how many nodes a table has.
const rowsShown = 20

// scheduling tells how a pod got its node, or why it has none.
func (a *Asker) scheduling(ctx context.Context, out io.Writer, pod *v1.Pod, traceName string) error {
	span := a.decision(pod, traceName)
	if pod.Spec.NodeName != "" {
		if span == nil {
			_, err := fmt.Fprintf(out, "\nIt is on %s; the API server remembers no decision of the scheduler about it.\n", pod.Spec.NodeName)
			return err
		}
		return past(out, span)
	}
	if pod.DeletionTimestamp != nil {
		return nil
	}
	if err := a.present(ctx, out, pod); err != nil {
		return err
	}
	if span != nil && hasVictims(span) {
		return past(out, span)
	}
	return nil
}

// decision is the span of the last attempt to place the pod.
func (a *Asker) decision(pod *v1.Pod, traceName string) *trace.Span {
	for i := len(a.Spans) - 1; i >= 0; i-- {
		s := &a.Spans[i]
		if s.Name == "schedule" && s.Object == traceName && s.UID == string(pod.UID) && len(s.Nodes) > 0 {
			return s
		}
	}
	return nil
}

func hasVictims(span *trace.Span) bool {
	return slices.ContainsFunc(verdicts(span), func(v scheduler.NodeVerdict) bool { return len(v.Victims) > 0 })
}

func verdicts(span *trace.Span) []scheduler.NodeVerdict {
	var rows []scheduler.NodeVerdict
	if json.Unmarshal(span.Nodes, &rows) != nil {
		return nil // of another version
	}
	return rows
}

// past writes what was decided and the table behind it.
func past(out io.Writer, span *trace.Span) error {
	rows := verdicts(span)
	fmt.Fprintf(out, "\nThe scheduler decided at %s: %s\n\n", span.End.Format("15:04:05.000"), span.Decision)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	plugins := scorers(rows)
	fmt.Fprintf(table, "NODE\tVERDICT\tSCORE\t%s\n", strings.Join(plugins, "\t"))
	for _, row := range rows {
		verdict, score := "fits", ""
		switch {
		case row.Chosen:
			verdict = "chosen"
		case row.Rejected != "":
			verdict = fmt.Sprintf("%s: %s", row.Rejected, strings.Join(row.Reasons, ", "))
		}
		if len(row.Victims) > 0 {
			verdict += "; preempting " + strings.Join(row.Victims, ", ")
		}
		if row.Rejected == "" && len(row.Scores) > 0 {
			score = fmt.Sprint(row.Score)
		}
		var cells []string
		for _, s := range row.Scores {
			cells = append(cells, cell(s.Raw, s.Normalized, s.Weight))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", row.Node, verdict, score, strings.Join(cells, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(plugins) > 0 {
		_, err := fmt.Fprintln(out, "\nA plugin's score is raw, brought into 0 to 100, times weight.")
		return err
	}
	return nil
}

func scorers(rows []scheduler.NodeVerdict) []string {
	for _, row := range rows {
		if len(row.Scores) > 0 {
			var names []string
			for _, s := range row.Scores {
				names = append(names, s.Plugin)
			}
			return names
		}
	}
	return nil
}

func cell(raw, normalized, weight int64) string {
	return fmt.Sprintf("%d→%d×%d", raw, normalized, weight)
}

// present asks the plugins about a pod that waits.
func (a *Asker) present(ctx context.Context, out io.Writer, pod *v1.Pod) error {
	cluster, err := trial.Read(ctx, a.Client, nil)
	if err != nil {
		return err
	}
	judged, err := cluster.Judge(pod)
	if err != nil {
		return err
	}
	switch {
	case judged.Rejected != nil:
		fmt.Fprintf(out, "\n%s turns it away: %s.\n", judged.Rejected.Plugin, judged.Rejected.Message())
	case len(judged.Nodes) == 0:
		_, err := fmt.Fprintln(out, "\nThere are no nodes.")
		return err
	default:
		if err := matrix(out, judged); err != nil {
			return err
		}
	}
	fixes := cluster.Fixes(pod, judged)
	if len(fixes) == 0 {
		return nil
	}
	fmt.Fprintln(out, "\nAny of these would let it in:")
	for _, fix := range fixes {
		where := ""
		if fix.Node != "" && !strings.Contains(fix.String(), fix.Node) {
			where = " (then " + fix.Node + " takes it)"
		}
		if _, err := fmt.Fprintf(out, "  %s%s\n", fix, where); err != nil {
			return err
		}
	}
	return nil
}

// matrix writes nodes by plugins: those plugins that reject the pod somewhere,
// or score it where it fits.
func matrix(out io.Writer, judged *trial.Table) error {
	var plugins []string
	add := func(name string) {
		if !slices.Contains(plugins, name) {
			plugins = append(plugins, name)
		}
	}
	for _, v := range judged.Nodes {
		for _, r := range v.Rejections {
			add(r.Plugin)
		}
		for _, s := range v.Scores {
			add(s.Plugin)
		}
	}
	fmt.Fprintf(out, "\n%d of %d nodes would take it now.\n\n", judged.Feasible(), len(judged.Nodes))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "NODE\t%s\n", strings.Join(plugins, "\t"))
	for _, v := range judged.Nodes[:min(len(judged.Nodes), rowsShown)] {
		cells := make([]string, len(plugins))
		for i, plugin := range plugins {
			cells[i] = verdictOf(v, plugin)
		}
		fmt.Fprintf(table, "%s\t%s\n", v.Node, strings.Join(cells, "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if more := len(judged.Nodes) - rowsShown; more > 0 {
		_, err := fmt.Fprintf(out, "… and %d more nodes\n", more)
		return err
	}
	return nil
}

func verdictOf(v trial.Verdict, plugin string) string {
	for _, r := range v.Rejections {
		if r.Plugin == plugin {
			return r.Message()
		}
	}
	for _, s := range v.Scores {
		if s.Plugin == plugin {
			return cell(s.Raw, s.Normalized, s.Weight)
		}
	}
	return "ok"
}
