package timeline

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// podsShown is how many pods of one root are shown step by step.
const podsShown = 3

// Render prints the steps as a table. Of many pods it shows the first few, and
// counts the others.
func Render(w io.Writer, steps []Step) error {
	shown, folded := fold(steps, podsShown)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TIME\tREVISION\tWHO\tDID\tWHY\tWOKEN BY")
	for _, step := range shown {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\n", at(step.At), step.Revision, step.Who, step.Did, orDash(step.Why), woken(step))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if folded.pods > 0 {
		_, err := fmt.Fprintf(w, "… and %d more pods in %d steps, the last at %s\n", folded.pods, folded.steps, at(folded.last))
		return err
	}
	return nil
}

// rest is what fold left out.
type rest struct {
	pods, steps int
	last        time.Duration
}

// fold keeps the steps of the first most pods, and those of all other kinds.
func fold(steps []Step, most int) ([]Step, rest) {
	pods := map[string]bool{} // by object: is it shown
	var shown []Step
	var folded rest
	for _, step := range steps {
		if !strings.HasPrefix(step.Object, "pods/") {
			shown = append(shown, step)
			continue
		}
		show, known := pods[step.Object]
		if !known {
			show = len(pods) < most
			pods[step.Object] = show
		}
		if show {
			shown = append(shown, step)
			continue
		}
		folded.steps++
		folded.last = step.At
	}
	folded.pods = max(0, len(pods)-most)
	return shown, folded
}

// at shows a time since the request in milliseconds, later in seconds.
func at(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("+%.1fms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("+%.1fs", d.Seconds())
}

func woken(step Step) string {
	switch {
	case step.Woke == 0:
		return "-"
	case step.WokeObject == "" || step.WokeObject == step.Object:
		return fmt.Sprintf("revision %d", step.Woke)
	}
	return fmt.Sprintf("revision %d of %s", step.Woke, step.WokeObject)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
