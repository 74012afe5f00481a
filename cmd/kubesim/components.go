package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/fakelet"
)

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
