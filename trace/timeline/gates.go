package timeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/kubesim/kubesim/trace"
)

// gatesShown is how many requests RenderGates shows.
const gatesShown = 50

// RenderGates prints, of the writes of some objects and of requests for them that
// were refused, who sent them, how that was known, what let them pass or would
// have, and which fields admission changed.
func RenderGates(w io.Writer, spans []trace.Span, objects []string) error {
	var requests []trace.Span
	for _, s := range spans {
		if slices.Contains(objects, s.Object) && (isWrite(&s) || s.Needed != "") {
			requests = append(requests, s)
		}
	}
	slices.SortStableFunc(requests, func(a, b trace.Span) int { return a.Start.Compare(b.Start) })
	shown := requests[:min(len(requests), gatesShown)]
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "REVISION\tUSER\tKNOWN BY\tREQUEST\tALLOWED BY, OR CHANGED BY ADMISSION")
	for _, s := range shown {
		revision, verdict := fmt.Sprint(s.Wrote), cmp.Or(s.AllowedBy, "-")
		if s.Needed != "" {
			revision, verdict = "-", "refused: needs "+s.Needed
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s %s\t%s\n", revision, cmp.Or(s.User, "-"), cmp.Or(s.AuthenticatedBy, "-"), s.Verb, short(s.Object), verdict)
		for _, c := range s.Changed {
			fmt.Fprintf(table, "\t\t\t\t%s: %s: %s → %s\n", c.By, c.Field, cmp.Or(c.From, "none"), cmp.Or(c.To, "none"))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if more := len(requests) - len(shown); more > 0 {
		_, err := fmt.Fprintf(w, "… and %d more requests\n", more)
		return err
	}
	return nil
}
