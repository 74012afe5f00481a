package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/sandbox/fault"
)

// Fault is the command fault.
func Fault() *cobra.Command {
	var client Flags
	list := func(cmd *cobra.Command, _ []string) error {
		return askFaults(cmd, &client, http.MethodGet, "", nil, func(all fault.List) error { return printFaults(cmd.OutOrStdout(), all.Items) })
	}
	cmd := &cobra.Command{
		Use:   "fault",
		Short: "Break a link of the sandbox, and see it heal",
		Long: `Break a link of the sandbox, and see it heal. Each fault ends by itself after --for,
by the cluster's clock, or by kubesim fault clear. Without a command the faults are
listed that there are, with how often each has struck.

--from says whose requests and watches are meant: a controller, controllers,
scheduler, kubelets, a user, or a client program such as kubectl.`,
		Example: `  kubesim fault pause replicaset-controller         Deployments get no pods
  kubesim fault crash scheduler --for 10s           gone, and back with empty caches
  kubesim fault crash controllers --after 3         dies with its third write
  kubesim fault pause kubelet/node-1 --for 5m       silent: its Lease runs out
  kubesim fault freeze --from scheduler --resource pods
  kubesim fault drop --from controllers --resource replicasets --rate 0.5
  kubesim fault answer 409 --verb update --resource deployments --rate 0.3
  kubesim fault slow 2s --from kubectl
  kubesim fault; kubesim fault clear`,
		Args: subcommand,
		RunE: list,
	}
	client.Register(cmd.PersistentFlags())
	cmd.AddCommand(&cobra.Command{Use: "list", Short: "List faults (as without a command)", Args: cobra.NoArgs, RunE: list},
		clearFaults(&client),
		processFault(&client, fault.Pause, "Let a controller, controllers, scheduler, kubelet/NODE or kubelets do nothing", `A paused component keeps its caches, and does nothing: reconciles, scheduling and
all that a kubelet does wait. Its informers go on.`),
		processFault(&client, fault.Crash, "Kill the process of a component; it starts anew when the fault ends", `All that the process knew is lost, and its last words don't count. When the fault
ends it starts with empty caches. All controllers are one process, and so are all
kubelets; of crash kubelet/NODE nothing is lost, it is only silent.`),
		requestFault(&client, fault.Freeze, "", "Let watches tell nothing; all of it comes when the fault ends"),
		requestFault(&client, fault.Delay, "DURATION", "Let watches tell everything late"),
		requestFault(&client, fault.Drop, "", "Lose events of watches; when the fault ends their clients are told to list again"),
		requestFault(&client, fault.Cut, "", "End watches, and refuse new ones"),
		requestFault(&client, fault.Answer, "CODE", "Answer requests with 409, 410, 429, 500, 503 or 504"),
		requestFault(&client, fault.Slow, "DURATION", "Carry requests out late"),
	)
	return cmd
}

func clearFaults(client *Flags) *cobra.Command {
	return &cobra.Command{
		Use: "clear [ID...]", Short: "End faults, all of them without an ID",
		RunE: func(cmd *cobra.Command, ids []string) error {
			if len(ids) == 0 {
				ids = []string{""}
			}
			for _, id := range ids {
				path := ""
				if id != "" {
					if _, err := strconv.Atoi(id); err != nil {
						return fmt.Errorf("ID %q: must be a number of kubesim fault list", id)
					}
					path = "/" + id
				}
				err := askFaults(cmd, client, http.MethodDelete, path, nil, func(cleared fault.List) error {
					for _, f := range cleared.Items {
						fmt.Fprintf(cmd.OutOrStdout(), "fault %s (%s) cleared after %d hits\n", f.ID, f.Kind, f.Hits)
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func processFault(client *Flags, kind, short, long string) *cobra.Command {
	f := fault.Fault{Kind: kind}
	cmd := &cobra.Command{
		Use: kind + " TARGET", Short: short, Long: short + ".\n\n" + long, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Target = args[0]
			return addFault(cmd, client, f)
		},
	}
	forFlag(cmd.Flags(), &f)
	if kind == fault.Crash {
		cmd.Flags().IntVar(&f.After, "after", 0, "crash with its `N`th write from now: that is made, but its answer never arrives (default: at once)")
	}
	return cmd
}

func forFlag(flags *pflag.FlagSet, f *fault.Fault) {
	flags.DurationVar(&f.For.Duration, "for", fault.DefaultFor, "`duration` after which the fault ends, by the cluster's clock")
}

// requestFault is a fault of requests or watches; arg names its argument, "" for none.
func requestFault(client *Flags, kind, arg, short string) *cobra.Command {
	f := fault.Fault{Kind: kind}
	args := cobra.NoArgs
	if arg != "" {
		args = cobra.ExactArgs(1)
	}
	cmd := &cobra.Command{
		Use: strings.TrimSpace(kind + " " + arg), Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			switch arg {
			case "CODE":
				if f.Code, err = strconv.Atoi(args[0]); err != nil {
					return fmt.Errorf("CODE %q: must be a number", args[0])
				}
			case "DURATION":
				if f.By.Duration, err = time.ParseDuration(args[0]); err != nil {
					return fmt.Errorf("DURATION %q: must be like 500ms or 2s", args[0])
				}
			}
			return addFault(cmd, client, f)
		},
	}
	flags := cmd.Flags()
	forFlag(flags, &f)
	flags.StringVar(&f.From, "from", "", "whose: a `component`, a user or a client program (default: everybody's)")
	flags.StringVar(&f.Resource, "resource", "", "`resource` such as pods, pods/status or deployments.apps (default: all)")
	flags.StringVar(&f.Namespace, "namespace", "", "`namespace` asked for (default: all)")
	flags.StringVar(&f.Name, "name", "", "`name` of the object asked for (default: all)")
	if kind == fault.Answer || kind == fault.Slow {
		flags.StringVar(&f.Verb, "verb", "", "`verb`: get, list, watch, create, update, patch, delete or deletecollection (default: all)")
	}
	if kind != fault.Freeze && kind != fault.Cut {
		flags.Float64Var(&f.Rate, "rate", 1, "`share` of them, more than 0 and up to 1")
	}
	if kind == fault.Answer {
		flags.DurationVar(&f.By.Duration, "by", 0, "`duration` to let the client wait for the answer")
	}
	return cmd
}

func addFault(cmd *cobra.Command, client *Flags, f fault.Fault) error {
	body, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return askFaults(cmd, client, http.MethodPost, "", body, func(added fault.Fault) error {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "fault %s: %s, for %v\n", added.ID, describeFault(added), added.For.Duration)
		return err
	})
}

// askFaults sends a request about faults and hands on what is answered.
func askFaults[T any](cmd *cobra.Command, flags *Flags, method, path string, body []byte, answer func(T) error) error {
	config, err := flags.Config(cmd.Context())
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	text, err := faultRequest(cmd.Context(), client, method, strings.TrimSuffix(config.Host, "/")+fault.Path+path, body)
	if err != nil {
		return err
	}
	var out T
	if err := json.Unmarshal(text, &out); err != nil {
		return err
	}
	return answer(out)
}

func faultRequest(ctx context.Context, client *http.Client, method, url string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, errors.New(strings.TrimSpace(string(text)))
	}
	return text, nil
}

func printFaults(out io.Writer, faults []fault.Fault) error {
	if len(faults) == 0 {
		_, err := fmt.Fprintln(out, "No faults.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tFAULT\tUNTIL\tHITS")
	for _, f := range faults {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", f.ID, describeFault(f), f.Until.Local().Format(time.TimeOnly), f.Hits)
	}
	return w.Flush()
}

// describeFault is a fault as the command that makes it.
func describeFault(f fault.Fault) string {
	words := []string{f.Kind}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, strings.TrimSpace(flag+" "+value))
		}
	}
	add("", f.Target)
	switch {
	case f.Code != 0:
		words = append(words, strconv.Itoa(f.Code))
		if f.By.Duration > 0 {
			add("--by", f.By.Duration.String())
		}
	case f.By.Duration > 0:
		add("", f.By.Duration.String())
	}
	add("--from", f.From)
	add("--verb", f.Verb)
	add("--resource", f.Resource)
	add("--namespace", f.Namespace)
	add("--name", f.Name)
	if f.Rate > 0 && f.Rate < 1 {
		add("--rate", strconv.FormatFloat(f.Rate, 'g', -1, 64))
	}
	if f.After > 0 {
		add("--after", strconv.Itoa(f.After))
	}
	return strings.Join(words, " ")
}
