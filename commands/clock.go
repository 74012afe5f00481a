package commands

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/sandbox/simclock"
)

// Clock is the command clock.
func Clock() *cobra.Command {
	var client Flags
	cmd := &cobra.Command{
		Use:   "clock",
		Short: "Stop the sandbox's time, run it fast, or jump ahead",
		Long: `Stop the sandbox's time, run it fast, or jump ahead. Everything in the cluster goes
by that time: timestamps, Leases, back-offs, deadlines, schedules. Without a
command it tells what time it is there.

It is the clock of one process: with parts that run as processes of their own it
moves that of the API server alone. kubectl counts ages by its own clock.`,
		Example: `  kubesim clock speed 100      run a hundred times as fast
  kubesim clock advance 5m     see at once what happens in five minutes
  kubesim clock pause; kubesim clock step`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runClock(cmd.Context(), cmd.OutOrStdout(), &client, simclock.Command{})
		},
	}
	client.Register(cmd.PersistentFlags())
	simple := func(do, short string) {
		cmd.AddCommand(&cobra.Command{Use: do, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return runClock(cmd.Context(), cmd.OutOrStdout(), &client, simclock.Command{Do: do})
		}})
	}
	simple("pause", "Stop the clock")
	simple("resume", "Let it run as before")
	simple("step", "Jump to the next timer of any part")
	cmd.AddCommand(&cobra.Command{
		Use: "speed RATE", Short: "Run so many times as fast", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rate, err := strconv.ParseFloat(args[0], 64)
			if err != nil {
				return fmt.Errorf("RATE %q: must be a number", args[0])
			}
			return runClock(cmd.Context(), cmd.OutOrStdout(), &client, simclock.Command{Do: "speed", Rate: rate})
		},
	}, &cobra.Command{
		Use: "advance DURATION", Short: "Jump ahead, through all that is due on the way", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := time.ParseDuration(args[0])
			if err != nil {
				return fmt.Errorf("DURATION %q: must be like 90s, 5m or 24h", args[0])
			}
			return runClock(cmd.Context(), cmd.OutOrStdout(), &client, simclock.Command{Do: "advance", For: d})
		},
	})
	return cmd
}

// leg is how far the clock is moved by one request, for long ways to show where
// they are and to end with Ctrl-C.
const leg = time.Hour

// advance gives the command, a long way in legs.
func advance(ctx context.Context, client *http.Client, host string, command simclock.Command) (simclock.State, error) {
	for whole := command.For; command.For > leg; command.For -= leg {
		state, err := simclock.Control(ctx, client, host, simclock.Command{Do: command.Do, For: leg})
		if err != nil {
			return state, err
		}
		if term.IsTerminal(int(os.Stderr.Fd())) {
			fmt.Fprintf(os.Stderr, "\r%s of %s", whole-command.For+leg, whole)
			if command.For-leg <= leg {
				fmt.Fprintln(os.Stderr)
			}
		}
	}
	return simclock.Control(ctx, client, host, command)
}

func runClock(ctx context.Context, out io.Writer, flags *Flags, command simclock.Command) error {
	config, err := flags.Config(ctx)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	state, err := advance(ctx, client, config.Host, command)
	if err != nil {
		return err
	}
	pace := fmt.Sprintf("runs at %gx", state.Rate)
	if state.Rate == 0 {
		pace = "stands"
	}
	next := "no timer"
	if state.Next != nil {
		next = "the next in " + state.Next.Sub(state.Now).Round(time.Millisecond).String()
	}
	_, err = fmt.Fprintf(out, "%s, %s; %d timers, %s\n", state.Now.Local().Format("2006-01-02 15:04:05.000"), pace, state.Timers, next)
	return err
}
