package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubectl/pkg/drain"

	"github.com/kubesim/kubesim/fakelet"
)

// Node changes the nodes of a running sandbox. All of it can be done with
// kubectl as well: the simulation goes by annotations on Nodes.
func Node() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Stop, start, drain, add and remove nodes",
		Long: `Stop, start, drain, add and remove nodes of a running sandbox.

A stopped node's kubelet is silent, as after a power cut: its Lease runs out, the
node becomes NotReady, its pods are evicted. Started again it reports at once and
its pods are Ready again. The same is done by the annotation kubesim.io/kubelet on
a Node: stopped, partitioned (the network does not reach its pods either) or slow.`,
		Args:    subcommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Example: "  kubesim node stop node-2\n  kubesim node start node-2\n  kubesim node add big-1 --cpu 64 --memory 256Gi --zone zone-b",
	}
	cmd.AddCommand(
		nodeAction("stop", "Silence the kubelets of nodes", annotateKubelet(fakelet.KubeletStopped), "stopped"),
		nodeAction("partition", "Cut nodes off from the network", annotateKubelet(fakelet.KubeletPartitioned), "partitioned"),
		nodeAction("start", "Let the kubelets of nodes speak again", annotateKubelet(nil), "started"),
		nodeAction("remove", "Delete nodes", removeNode, "removed"),
		nodeDrainCommand(), nodeAddCommand(),
	)
	return cmd
}

type nodeFunc = func(ctx context.Context, client kubernetes.Interface, name string) error

// nodeAction is a command that does something to each node named.
func nodeAction(name, short string, act nodeFunc, done string) *cobra.Command {
	var flags Flags
	cmd := &cobra.Command{
		Use: name + " NODE...", Short: short, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := flags.client(cmd.Context())
			if err != nil {
				return err
			}
			for _, node := range args {
				if err := act(cmd.Context(), client, node); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "node/%s %s\n", node, done)
			}
			return nil
		},
	}
	flags.Register(cmd.Flags())
	return cmd
}

func (f *Flags) client(ctx context.Context) (kubernetes.Interface, error) {
	config, err := f.Config(ctx)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// annotateKubelet sets how a node's kubelet is, nil for as usual.
func annotateKubelet(mode any) nodeFunc {
	return func(ctx context.Context, client kubernetes.Interface, name string) error {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{fakelet.KubeletAnnotation: mode}}})
		if err != nil {
			return err
		}
		_, err = client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}
}

func removeNode(ctx context.Context, client kubernetes.Interface, name string) error {
	return client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
}

func nodeDrainCommand() *cobra.Command {
	var flags Flags
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "drain NODE...", Short: "Cordon nodes and evict their pods", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := flags.client(cmd.Context())
			if err != nil {
				return err
			}
			for _, name := range args {
				if err := drainNode(cmd.Context(), client, name, timeout, cmd.OutOrStdout(), cmd.ErrOrStderr()); err != nil {
					return err
				}
			}
			return nil
		},
	}
	flags.Register(cmd.Flags())
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long the pods of a node may take to go")
	return cmd
}

// drainNode does what kubectl drain --ignore-daemonsets --delete-emptydir-data --force does.
func drainNode(ctx context.Context, client kubernetes.Interface, name string, timeout time.Duration, out, errs io.Writer) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	helper := &drain.Helper{
		Ctx: ctx, Client: client, Force: true, IgnoreAllDaemonSets: true, DeleteEmptyDirData: true, GracePeriodSeconds: -1,
		Timeout: timeout, Out: out, ErrOut: errs,
		OnPodDeletedOrEvicted: func(pod *corev1.Pod, evicted bool) {
			fmt.Fprintf(out, "pod/%s evicted from %s\n", pod.Name, name)
		},
	}
	if err := drain.RunCordonOrUncordon(helper, node, true); err != nil {
		return err
	}
	if err := drain.RunNodeDrain(helper, name); err != nil {
		return err
	}
	fmt.Fprintf(out, "node/%s drained\n", name)
	return nil
}

func nodeAddCommand() *cobra.Command {
	var flags Flags
	var cpu, memory, pods, zone string
	var labels, taints []string
	cmd := &cobra.Command{
		Use: "add NODE...", Short: "Add nodes that the sandbox plays", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := flags.client(cmd.Context())
			if err != nil {
				return err
			}
			capacity := corev1.ResourceList{}
			for name, amount := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory, corev1.ResourcePods: pods, corev1.ResourceEphemeralStorage: "100Gi"} {
				if capacity[name], err = resource.ParseQuantity(amount); err != nil {
					return fmt.Errorf("--%s %q: %w", name, amount, err)
				}
			}
			for _, name := range args {
				node := fakelet.NewNode(name, zone)
				node.Status.Capacity, node.Status.Allocatable = capacity, capacity
				for _, l := range labels {
					key, value, _ := strings.Cut(l, "=")
					node.Labels[key] = value
				}
				if node.Spec.Taints, err = parseTaints(taints); err != nil {
					return err
				}
				if _, err := client.CoreV1().Nodes().Create(cmd.Context(), node, metav1.CreateOptions{}); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "node/%s added\n", name)
			}
			return nil
		},
	}
	flags.Register(cmd.Flags())
	cmd.Flags().StringVar(&cpu, "cpu", "4", "`number` of CPUs")
	cmd.Flags().StringVar(&memory, "memory", "8Gi", "`amount` of memory")
	cmd.Flags().StringVar(&pods, "pods", "110", "`number` of pods that it takes")
	cmd.Flags().StringVar(&zone, "zone", "zone-a", "`name` of its zone")
	cmd.Flags().StringSliceVar(&labels, "label", nil, "`key=value` of a label (repeatable)")
	cmd.Flags().StringSliceVar(&taints, "taint", nil, "`key=value:Effect` of a taint (repeatable)")
	return cmd
}

func parseTaints(words []string) ([]corev1.Taint, error) {
	var out []corev1.Taint
	for _, w := range words {
		kv, effect, ok := strings.Cut(w, ":")
		if !ok {
			return nil, fmt.Errorf("--taint %q: must be key=value:Effect", w)
		}
		key, value, _ := strings.Cut(kv, "=")
		out = append(out, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	return out, nil
}
