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
	fmt.Fprintln(table, "TIME\tREVISION\tWHO\tDID\tWOKEN BY\tWHY")
	for _, step := range shown {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s %s\t%s\t%s\n",
			at(step.At), step.Revision, step.Who, step.Did, short(step.Object), woken(step), step.Why)
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

// fold keeps the steps of the first pods, at most so many, and all steps of other kinds.
func fold(steps []Step, most int) (shown []Step, folded rest) {
	show := map[string]bool{} // by pod
	for _, step := range steps {
		if !strings.HasPrefix(step.Object, "pods/") {
			shown = append(shown, step)
			continue
		}
		if _, known := show[step.Object]; !known {
			show[step.Object] = len(show) < most
		}
		if show[step.Object] {
			shown = append(shown, step)
			continue
		}
		folded.steps++
		folded.last = step.At
	}
	folded.pods = max(0, len(show)-most)
	return shown, folded
}

// at shows a time since the request in milliseconds, later in seconds.
func at(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("+%.1fms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("+%.1fs", d.Seconds())
}

// woken names the revision that woke a component, and of what, unless that is
// what it then wrote.
func woken(step Step) string {
	switch {
	case step.Woke == 0:
		return "-"
	case step.WokeObject == "" || step.WokeObject == step.Object:
		return fmt.Sprint(step.Woke)
	}
	resource, _, _ := strings.Cut(step.WokeObject, "/")
	resource, _, _ = strings.Cut(resource, ".")
	return fmt.Sprintf("%d of %s", step.Woke, resource)
}

// short is an object's name without group and namespace: all steps of a
// timeline are in one namespace.
func short(object string) string {
	parts := strings.Split(object, "/")
	resource, _, _ := strings.Cut(parts[0], ".")
	return resource + "/" + parts[len(parts)-1]
}
