package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubesim/kubesim/sandbox"
)

// clientFlags say which API server a client command talks to.
type clientFlags struct {
	server     string
	kubeconfig string
	dataDir    string
}

func (f *clientFlags) register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.server, "server", "s", "", "`URL` of the API server (default: a running sandbox)")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "`file` that says where the API server is")
	flags.StringVar(&f.dataDir, "data-dir", defaultDataDir(), "`directory` of the sandbox to find")
}

// config finds the API server: the one named, or else the running sandbox of
// the data directory, or else one on the default port.
func (f *clientFlags) config(ctx context.Context) (*rest.Config, error) {
	var config *rest.Config
	var err error
	switch {
	case f.dataDir != defaultDataDir() && f.server == "" && f.kubeconfig == "":
		config, err = sandbox.Find(ctx, f.dataDir, "")
	case f.server != "" && f.kubeconfig != "":
		return nil, errors.New("--server and --kubeconfig exclude each other")
	case f.server != "":
		config, err = clientcmd.BuildConfigFromFlags(f.server, "")
	case f.kubeconfig != "":
		config, err = clientcmd.BuildConfigFromFlags("", f.kubeconfig)
	default:
		config, err = sandbox.Find(ctx, f.dataDir, "http://"+defaultAddress)
	}
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.UserAgent = "kubesim"
	return config, nil
}

// subcommand refuses what is no command of a group of commands.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	}
	return nil
}
