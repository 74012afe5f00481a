package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubesim/kubesim/bench"
	"github.com/kubesim/kubesim/commands"
)

type benchFlags struct {
	client commands.Flags
	sizes  bench.Config
}

func benchCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure kubesim, or any API server",
		Long: `Measure requests, lists, watches and a Deployment's way to Ready.

By default kubesim measures itself, in processes of their own on fresh data with
fsync on, beside raw embedded etcd. With --server or --kubeconfig it measures a
running API server, in namespaces that are deleted at the end.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), stdio{cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
	f.client.Register(cmd.Flags())
	f.registerSizes(cmd.Flags())
	return cmd
}

func (f *benchFlags) registerSizes(flags *pflag.FlagSet) {
	flags.IntVar(&f.sizes.Objects, "objects", 5000, "`number` of ConfigMaps created, read, updated and deleted")
	flags.IntVar(&f.sizes.Clients, "clients", 16, "`number` of clients at work at once")
	flags.IntVar(&f.sizes.ListPods, "list-pods", 5000, "`number` of pods in the list")
	flags.IntVar(&f.sizes.Watchers, "watchers", 50, "`number` of watchers of the fan-out")
	flags.IntVar(&f.sizes.FanOut, "fan-out", 2000, "`number` of creates that they see")
	flags.IntVar(&f.sizes.Replicas, "replicas", 1000, "`number` of replicas of the Deployment")
}

func (f *benchFlags) run(ctx context.Context, std stdio) error {
	f.sizes.Logger = verbosity(0).logger(std.err)
	rows, err := f.measure(ctx, std)
	return errors.Join(bench.Render(std.out, rows), err) // what was measured before an error is shown
}

func (f *benchFlags) measure(ctx context.Context, std stdio) ([]*bench.Row, error) {
	if f.client.Server == "" && f.client.Kubeconfig == "" {
		executable, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return bench.RunSelf(ctx, executable, f.sizes, func(stage string) { fmt.Fprintln(std.err, "measuring", stage) })
	}
	config, err := f.client.Config(ctx)
	if err != nil {
		return nil, err
	}
	f.sizes.RESTConfig = config
	return bench.Run(ctx, f.sizes, bench.PartRaw, bench.PartObjects, bench.PartList, bench.PartWatch, bench.PartDeployment)
}
