package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/controllers"
	"github.com/kubesim/kubesim/fakelet"
	"github.com/kubesim/kubesim/scheduler"
)

func controllersCommand() *cobra.Command {
	var elect bool
	var selected []string
	var syncs int
	cmd := componentCommand("controllers", "Run the controllers", func(ctx context.Context, config *rest.Config, logger *slog.Logger) error {
		return controllers.Run(ctx, controllers.Config{
			RESTConfig: config, Logger: logger, LeaderElect: elect, Controllers: selected, ConcurrentSyncs: syncs,
		})
	})
	cmd.Flags().BoolVar(&elect, "leader-elect", true, "work only while holding the Lease, so that several may run")
	cmd.Flags().StringSliceVar(&selected, "controllers", []string{"*"}, "`names` of the controllers to run: * is all, -name leaves one out")
	cmd.Flags().IntVar(&syncs, "concurrent-syncs", 5, "`number` of objects that each controller works on at a time")
	return cmd
}

func schedulerCommand() *cobra.Command {
	var elect bool
	cmd := componentCommand("scheduler", "Run the scheduler", func(ctx context.Context, config *rest.Config, logger *slog.Logger) error {
		return scheduler.Run(ctx, scheduler.Config{RESTConfig: config, Logger: logger, LeaderElect: elect})
	})
	cmd.Flags().BoolVar(&elect, "leader-elect", true, "work only while holding the Lease, so that several may run")
	return cmd
}

func fakeletCommand() *cobra.Command {
	var nodes int
	cmd := componentCommand("fakelet", "Play the nodes of a cluster", func(ctx context.Context, config *rest.Config, logger *slog.Logger) error {
		return fakelet.Run(ctx, fakelet.Config{RESTConfig: config, Logger: logger, Nodes: nodes})
	})
	cmd.Flags().IntVar(&nodes, "nodes", 3, "`number` of nodes")
	return cmd
}

// componentCommand is a part that runs as a process of its own against any API server.
func componentCommand(name, short string, run func(context.Context, *rest.Config, *slog.Logger) error) *cobra.Command {
	var client clientFlags
	var verbosity verbosity
	cmd := &cobra.Command{
		Use:   name,
		Short: short + ", as a process of its own",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := client.config(cmd.Context())
			if err != nil {
				return err
			}
			return run(cmd.Context(), config, verbosity.logger(cmd.ErrOrStderr()))
		},
	}
	client.register(cmd.Flags())
	verbosity.flag(cmd.Flags())
	return cmd
}
