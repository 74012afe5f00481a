package commands

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"sync"
	_ "unsafe" // for the name of another package's variable

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/plugin"

	"github.com/kubesim/kubesim/sandbox"
)

// gitVersion is what kubectl takes for its own version. Kubernetes sets it by a
// flag of the linker; `go build` leaves words that kubectl itself can't read.
//
//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

// KubernetesVersion is the release whose API is served.
const KubernetesVersion = "v1.37.2"

// setVersion tells kubectl its version, once.
var setVersion = sync.OnceValue(func() error {
	gitVersion = KubernetesVersion
	return version.SetDynamicVersion(gitVersion)
})

// Kubectl is the command kubectl.
func Kubectl() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl [ARGUMENT...]",
		Short: "kubectl itself, pointed at the running sandbox",
		Long: `kubectl itself, pointed at the running sandbox. Its own --server, --kubeconfig
and --context point it elsewhere.`,
		Example:            "  kubesim kubectl get pods -A --watch",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			signal.Reset() // kubectl's commands take Ctrl-C as it comes
			return RunKubectl(cmd.Context(), args, genericiooptions.IOStreams{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), ErrOut: cmd.ErrOrStderr()})
		},
	}
}

// RunKubectl gives kubectl the sandbox as the default of its flags: its
// kubeconfig, or none, and then kubectl looks at port 8080 by itself. The user's
// own kubeconfig is left out: what is meant for a sandbox must not reach a real
// cluster. kubectl reports its errors itself and ends the process.
func RunKubectl(ctx context.Context, args []string, streams genericiooptions.IOStreams) error {
	if err := setVersion(); err != nil {
		return err
	}
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag()
	*flags.KubeConfig = cmp.Or(sandbox.FindKubeconfig(ctx, DefaultDataDir()), os.DevNull)
	cmd := kubectl.NewKubectlCommand(kubectl.KubectlOptions{
		PluginHandler: kubectl.NewDefaultPluginHandler(plugin.ValidPluginFilenamePrefixes),
		Arguments:     append([]string{"kubectl"}, args...),
		ConfigFlags:   flags,
		IOStreams:     streams,
	})
	cmd.SetArgs(args)
	return cmd.ExecuteContext(ctx)
}
