package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Render prints the rows as a Markdown table, aligned for the terminal.
func Render(w io.Writer, rows []*Row) error {
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.Debug)
	fmt.Fprintln(table, "\t what\t per second\t median\t 99 %\t all\t server CPU each\t server memory\t")
	fmt.Fprintln(table, "\t---\t---\t---\t---\t---\t---\t---\t")
	for _, row := range rows {
		perSecond := fmt.Sprintf("%.0f", row.PerSecond())
		if row.Count == 0 {
			perSecond = "-"
		}
		fmt.Fprintf(table, "\t %s\t %s\t %s\t %s\t %s\t %s\t %s\t\n", row.What, perSecond,
			milliseconds(row.Quantile(0.5)), milliseconds(row.Quantile(0.99)), milliseconds(row.Took),
			milliseconds(row.CPUPerOp()), megabytes(row.Memory))
	}
	return table.Flush()
}

func milliseconds(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case d == 0:
		return "-"
	case ms < 10:
		return fmt.Sprintf("%.3f ms", ms)
	default:
		return fmt.Sprintf("%.0f ms", ms)
	}
}

func megabytes(bytes uint64) string {
	if bytes == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
}
