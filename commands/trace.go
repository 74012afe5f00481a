package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/sandbox/manifest"
	"github.com/kubesim/kubesim/trace"
	"github.com/kubesim/kubesim/trace/timeline"
)

// Trace is the command trace.
func Trace() *cobra.Command {
	var client Flags
	var namespace string
	cmd := &cobra.Command{
		Use:   "trace KIND/NAME",
		Short: "Show the steps from a request to Running, and what woke whom",
		Long: `Show each write from the request that made an object to its pods Running: when,
at which revision, by which component, why, and the revision that woke it.

The API server remembers the last few thousand steps. Of components in other
processes the User-Agent is all that is known.`,
		Example: "  kubesim trace deployment/web\n  kubesim trace pod/web-758c848bc7-2xkfp -n shop",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, err := client.Config(cmd.Context())
			if err != nil {
				return err
			}
			return runTrace(cmd.Context(), cmd.OutOrStdout(), config, args[0], namespace)
		},
	}
	client.Register(cmd.Flags())
	cmd.Flags().StringVarP(&namespace, "namespace", "n", metav1.NamespaceDefault, "`namespace` of the object")
	return cmd
}

func runTrace(ctx context.Context, out io.Writer, config *rest.Config, kindAndName, namespace string) error {
	objects, err := manifest.NewClient(config)
	if err != nil {
		return err
	}
	root, err := objects.Find(ctx, kindAndName, namespace)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	spans, err := trace.Fetch(ctx, client, config.Host)
	if err != nil {
		return err
	}
	return PrintTimeline(ctx, out, config, root, spans)
}

// PrintTimeline prints how an object and its descendants came to be.
func PrintTimeline(ctx context.Context, out io.Writer, config *rest.Config, root *manifest.Posted, spans []trace.Span) error {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	family := timeline.Descendants(spans, root.TraceName())
	if namespace := root.Object.GetNamespace(); namespace != "" {
		owned, err := timeline.Family(ctx, client, namespace, root.Object.GetUID())
		if err != nil {
			return err
		}
		family = append(family, owned...)
	}
	steps := timeline.Build(spans, family)
	if len(steps) == 0 {
		_, err := fmt.Fprintf(out, "The API server remembers no step of %s: it was there before the start, or too much has happened since.\n", root.Name())
		return err
	}
	return timeline.Render(out, steps)
}
