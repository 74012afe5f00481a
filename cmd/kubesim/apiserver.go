package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubesim/kubesim/sandbox"
)

type apiserverFlags struct {
	serverFlags
	etcdServers []string
}

func apiserverCommand(started time.Time) *cobra.Command {
	var f apiserverFlags
	cmd := &cobra.Command{
		Use:   "apiserver",
		Short: "Start the API server alone",
		Long: `Start the API server alone, on an etcd of its own or an external one. The other
parts join it with --kubeconfig.`,
		Example: `  kubesim apiserver --etcd-servers http://10.0.0.1:2379,http://10.0.0.2:2379
  kubesim scheduler --kubeconfig ~/.kubesim/default/kubeconfig`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), started, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringSliceVar(&f.etcdServers, "etcd-servers", nil, "`URLs` of an external etcd")
	return cmd
}

func (f *apiserverFlags) run(ctx context.Context, started time.Time, stdout, stderr io.Writer) (err error) {
	cfg, cleanup, err := f.config(stderr)
	if err != nil {
		return err
	}
	defer cleanup()
	cfg.APIOnly = true
	cfg.EtcdServers = f.etcdServers
	s, err := sandbox.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	f.ready()
	fmt.Fprintf(stdout, "kubesim apiserver is ready: %s in %dms\n", s.URL(), time.Since(started).Milliseconds())
	fmt.Fprintf(stdout, "  kubeconfig for the other parts: %s\n", sandbox.KubeconfigPath(cfg.DataDir))
	releaseMemory()
	return waitEnd(ctx, s)
}
