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
	var gates bool
	cmd := &cobra.Command{
		Use:   "trace KIND/NAME",
		Short: "Show the steps from a request to Running, and what woke whom",
		Long: `Show each write from the request that made an object to its pods Running: when,
at which revision, by which component, why, and the revision that woke it.

With --gates also who sent each request, how that was known, which rule of which
role let it pass or would have, and which field an admission plugin, webhook or
policy changed, from what to what.

The API server remembers the last few thousand steps. Of components in other
processes the User-Agent is all that is known.`,
		Example: "  kubesim trace deployment/web\n  kubesim trace pod/web-758c848bc7-2xkfp -n shop",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			config, err := client.Config(cmd.Context())
			if err != nil {
				return err
			}
			return runTrace(cmd.Context(), cmd.OutOrStdout(), config, args[0], namespace, gates)
		},
	}
	client.Register(cmd.Flags())
	cmd.Flags().StringVarP(&namespace, "namespace", "n", metav1.NamespaceDefault, "`namespace` of the object")
	cmd.Flags().BoolVar(&gates, "gates", false, "show what authentication, authorization and admission said of each request")
	return cmd
}

func runTrace(ctx context.Context, out io.Writer, config *rest.Config, kindAndName, namespace string, gates bool) error {
	finder, err := manifest.NewClient(config)
	if err != nil {
		return err
	}
	root, err := finder.Find(ctx, kindAndName, namespace)
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
	if err := PrintTimeline(ctx, out, config, root, spans); err != nil || !gates {
		return err
	}
	objects, err := familyOf(ctx, config, root, spans)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	return timeline.RenderGates(out, spans, objects)
}

// PrintTimeline prints how an object and its descendants came to be.
func PrintTimeline(ctx context.Context, out io.Writer, config *rest.Config, root *manifest.Posted, spans []trace.Span) error {
	family, err := familyOf(ctx, config, root, spans)
	if err != nil {
		return err
	}
	steps := timeline.Build(spans, family)
	if len(steps) == 0 {
		_, err := fmt.Fprintf(out, "The API server remembers no step of %s: it was there before the start, or too much has happened since.\n", root.Name())
		return err
	}
	return timeline.Render(out, steps)
}

// familyOf is an object and what was made on its behalf, as spans name them.
func familyOf(ctx context.Context, config *rest.Config, root *manifest.Posted, spans []trace.Span) ([]string, error) {
	family := timeline.Descendants(spans, root.TraceName())
	namespace := root.Object.GetNamespace()
	if namespace == "" {
		return family, nil
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	owned, err := timeline.Family(ctx, client, namespace, root.Object.GetUID())
	return append(family, owned...), err
}
