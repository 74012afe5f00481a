// Command kubesim is a Kubernetes control plane to be looked into: API server,
// controllers, scheduler and pretend nodes in one process or one each.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubesim/kubesim/commands"
	"github.com/kubesim/kubesim/lesson"
)

func main() {
	started := time.Now()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks for an end in good order, a second one ends at once.
	context.AfterFunc(ctx, stop)
	if err := root(started).ExecuteContext(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "kubesim:", err)
		os.Exit(1)
	}
}

func root(started time.Time) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kubesim",
		Short: "A Kubernetes control plane in one binary, made to be looked into",
		Long: `kubesim is a Kubernetes control plane in one binary, made to be looked into.
The machines are pretend, the mechanisms are real.

  kubesim up -f web.yaml          a cluster, and a manifest's way to Running
  kubesim kubectl get pods        kubectl itself, pointed at it
  kubesim trace deployment/web    every step from the request to Running`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.AddCommand(upCommand(started), apiserverCommand(started), controllersCommand(), schedulerCommand(), fakeletCommand(),
		commands.Kubectl(), lesson.Command(), benchCommand(), versionCommand())
	cmd.AddCommand(commands.Client()...)
	return cmd
}
