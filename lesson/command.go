package lesson

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Command is the command lesson.
func Command() *cobra.Command {
	var language string
	var auto bool
	cmd := &cobra.Command{
		Use:   "lesson [NUMBER]",
		Short: "Learn how it works, on a cluster of the lesson's own",
		Long: `Learn how it works, on a cluster of the lesson's own, which ends with the lesson.
Each step shows commands, asks now and then for a prediction, runs them and says
what to look at. Without a number the lessons are listed.`,
		Example: "  kubesim lesson 1\n  kubesim lesson 5 --lang zh\n  kubesim lesson all --auto      run all of them and check what they say",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(Languages, language) {
				return fmt.Errorf("--lang %q: must be one of %s", language, strings.Join(Languages, ", "))
			}
			all, err := All(language)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return list(cmd.OutOrStdout(), all)
			}
			chosen, err := choose(all, args[0])
			if err != nil {
				return err
			}
			player := &Player{In: bufio.NewReader(cmd.InOrStdin()), Out: cmd.OutOrStdout(), Language: language, Auto: auto, Color: isTerminal(cmd.OutOrStdout())}
			for _, l := range chosen {
				if err := player.Play(cmd.Context(), l); err != nil {
					return err
				}
			}
			if last := chosen[len(chosen)-1].Number; !auto && last < len(all) {
				player.text(player.say(sayDone, last+1))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&language, "lang", fromEnvironment(), "`language`: en or zh")
	cmd.Flags().BoolVar(&auto, "auto", false, "run all steps without asking; fail if the cluster does not do what the lesson says")
	return cmd
}

func choose(all []Lesson, number string) ([]Lesson, error) {
	if number == "all" {
		return all, nil
	}
	n, err := strconv.Atoi(number)
	i := slices.IndexFunc(all, func(l Lesson) bool { return l.Number == n })
	if err != nil || i < 0 {
		return nil, errors.New("lesson " + strconv.Quote(number) + ": must be a number of kubesim lesson, or all")
	}
	return all[i : i+1], nil
}

func list(out io.Writer, all []Lesson) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, l := range all {
		fmt.Fprintf(w, "%d\t%s\t%s\n", l.Number, l.Title, l.Idea)
	}
	return w.Flush()
}

// fromEnvironment is the language of the reader's terminal.
func fromEnvironment() string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := os.Getenv(name); value != "" {
			if strings.HasPrefix(strings.ToLower(value), "zh") {
				return "zh"
			}
			break
		}
	}
	return "en"
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("NO_COLOR") == ""
}
