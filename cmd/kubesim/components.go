package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kubesim/kubesim/commands"
	"github.com/kubesim/kubesim/controllers"
	"github.com/kubesim/kubesim/fakelet"
	"github.com/kubesim/kubesim/fakelet/stage"
	"github.com/kubesim/kubesim/scheduler"
	"github.com/kubesim/kubesim/scheduler/configuration"
)

func controllersCommand() *cobra.Command {
	var elect bool
	var selected []string
	var syncs int
	var keys keyFlags
	cmd := componentCommand("controllers", "Run the controllers", func(ctx context.Context, p part) error {
		cfg := controllers.Config{RESTConfig: p.config, Logger: p.logger, LeaderElect: elect, Controllers: selected, ConcurrentSyncs: syncs}
		if err := keys.load(p.dataDir, &cfg); err != nil {
			return err
		}
		return controllers.Run(ctx, cfg)
	})
	keys.register(cmd.Flags())
	cmd.Flags().BoolVar(&elect, "leader-elect", true, "work only while holding the Lease, so that several may run")
	cmd.Flags().StringSliceVar(&selected, "controllers", []string{"*"}, "`names` of the controllers to run: * is all, -name leaves one out")
	cmd.Flags().IntVar(&syncs, "concurrent-syncs", 5, "`number` of objects that each controller works on at a time")
	return cmd
}

func schedulerCommand() *cobra.Command {
	var elect bool
	var file string
	cmd := componentCommand("scheduler", "Run the scheduler", func(ctx context.Context, p part) error {
		cfg := scheduler.Config{RESTConfig: p.config, Logger: p.logger, LeaderElect: elect}
		var err error
		if cfg.Configuration, err = schedulerConfiguration("--config", file); err != nil {
			return err
		}
		return scheduler.Run(ctx, cfg)
	})
	cmd.Flags().BoolVar(&elect, "leader-elect", true, "work only while holding the Lease, so that several may run")
	cmd.Flags().StringVar(&file, "config", "", "`file` with a KubeSchedulerConfiguration: profiles, plugins, extenders")
	return cmd
}

// schedulerConfiguration reads the file that a flag names, nil without one.
func schedulerConfiguration(flag, file string) (*configv1.KubeSchedulerConfiguration, error) {
	if file == "" {
		return nil, nil
	}
	c, err := configuration.Load(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return c, nil
}

func fakeletCommand() *cobra.Command {
	var nodes int
	var file string
	cmd := componentCommand("fakelet", "Play the nodes of a cluster", func(ctx context.Context, p part) error {
		stages, err := readStages(file)
		if err != nil {
			return err
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		return fakelet.Run(ctx, fakelet.Config{RESTConfig: p.config, Logger: p.logger, Nodes: nodes, Stages: stages, Listener: listener, Address: listener.Addr().String()})
	})
	cmd.Flags().IntVar(&nodes, "nodes", 3, "`number` of nodes")
	cmd.Flags().StringVar(&file, "stages", "", "`file` with Stages of kwok: how pods and nodes that they select live")
	return cmd
}

// readPools reads the file of --node-config; no file has none.
func readPools(name string) ([]fakelet.Pool, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--node-config: %w", err)
	}
	pools, err := fakelet.ParsePools(data)
	if err != nil {
		return nil, fmt.Errorf("--node-config %s: %w", name, err)
	}
	return pools, nil
}

// readStages reads the file of --stages; no file has none.
func readStages(name string) (stage.Stages, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--stages: %w", err)
	}
	stages, err := stage.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("--stages %s: %w", name, err)
	}
	return stages, nil
}

// part is what a component is run with.
type part struct {
	config  *rest.Config
	logger  *slog.Logger
	dataDir string
}

// componentCommand is a part that runs as a process of its own against any API server.
func componentCommand(name, short string, run func(context.Context, part) error) *cobra.Command {
	var client commands.Flags
	var verbosity verbosity
	cmd := &cobra.Command{
		Use:   name,
		Short: short + ", as a process of its own",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := client.Config(cmd.Context())
			if err != nil {
				return err
			}
			return run(cmd.Context(), part{config, verbosity.logger(cmd.ErrOrStderr()), client.DataDir})
		},
	}
	client.Register(cmd.Flags())
	verbosity.flag(cmd.Flags())
	return cmd
}
