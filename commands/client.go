package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubesim/kubesim/sandbox"
)

// DefaultAddress is where a sandbox listens.
const DefaultAddress = "127.0.0.1:8080"

// DefaultDataDir is ~/.kubesim/default.
func DefaultDataDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "."
	}
	return filepath.Join(home, ".kubesim", "default")
}

// configKey is of a context that says which API server there is.
type configKey struct{}

// WithConfig makes a server the only one that commands know of, whatever their
// flags say: what runs inside a lesson reaches that lesson's sandbox alone.
func WithConfig(ctx context.Context, config *rest.Config) context.Context {
	return context.WithValue(ctx, configKey{}, config)
}

// configOf is the server of WithConfig, nil for none.
func configOf(ctx context.Context) *rest.Config {
	config, ok := ctx.Value(configKey{}).(*rest.Config)
	if !ok {
		return nil
	}
	return rest.CopyConfig(config)
}

// Flags say which API server a command talks to.
type Flags struct {
	Server, Kubeconfig, DataDir string
}

// Register adds the flags to those of a command.
func (f *Flags) Register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Server, "server", "s", "", "`URL` of the API server (default: a running sandbox)")
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "`file` that says where the API server is")
	flags.StringVar(&f.DataDir, "data-dir", DefaultDataDir(), "`directory` of the sandbox to find")
}

// Config finds the API server: the one named, or else the running sandbox of
// the data directory, or else one on the default port.
func (f *Flags) Config(ctx context.Context) (*rest.Config, error) {
	config := configOf(ctx)
	var err error
	switch {
	case config != nil:
	case f.DataDir != DefaultDataDir() && f.Server == "" && f.Kubeconfig == "":
		config, err = sandbox.Find(ctx, f.DataDir, "")
	case f.Server != "" && f.Kubeconfig != "":
		return nil, errors.New("--server and --kubeconfig exclude each other")
	case f.Server != "":
		config, err = clientcmd.BuildConfigFromFlags(f.Server, "")
	case f.Kubeconfig != "":
		config, err = clientcmd.BuildConfigFromFlags("", f.Kubeconfig)
	default:
		config, err = sandbox.Find(ctx, f.DataDir, "http://"+DefaultAddress)
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
