package commands

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/sandbox/manifest"
	"github.com/kubesim/kubesim/trace"
	"github.com/kubesim/kubesim/why"
)

// Why is the command why.
func Why() *cobra.Command {
	var client Flags
	var namespace string
	cmd := &cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Say what blocks an object, or why a pod is on its node",
		Long: `Say in one sentence what keeps an object from being ready, updated or gone.

Of a pod with a node it shows the scheduler's decision: what each plugin said of
each node, the scores and the tie-break. Of a pod without one it shows what the
plugins say now, and the smallest changes that would let it in.`,
		Example: "  kubesim why pod/web-758c848bc7-2xkfp\n  kubesim why deployment/web -n shop\n  kubesim why namespace/old",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, err := client.Config(cmd.Context())
			if err != nil {
				return err
			}
			return runWhy(cmd.Context(), cmd.OutOrStdout(), config, args[0], namespace)
		},
	}
	client.Register(cmd.Flags())
	cmd.Flags().StringVarP(&namespace, "namespace", "n", metav1.NamespaceDefault, "`namespace` of the object")
	return cmd
}

func runWhy(ctx context.Context, out io.Writer, config *rest.Config, kindAndName, namespace string) error {
	objects, err := manifest.NewClient(config)
	if err != nil {
		return err
	}
	found, err := objects.Find(ctx, kindAndName, namespace)
	if err != nil {
		return err
	}
	asker := &why.Asker{Now: time.Now()}
	if asker.Client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if asker.Metadata, err = metadata.NewForConfig(config); err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	// A server that is no kubesim has no spans: then only the present is known.
	if spans, err := trace.Fetch(ctx, client, config.Host); err == nil {
		asker.Spans = spans
	}
	return asker.Explain(ctx, out, found.Object, found.Name(), found.TraceName())
}
