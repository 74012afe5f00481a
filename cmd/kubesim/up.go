package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubesim/kubesim/commands"
	"github.com/kubesim/kubesim/lesson"
	"github.com/kubesim/kubesim/sandbox"
	"github.com/kubesim/kubesim/sandbox/simclock"
)

// serverFlags are those that up and apiserver share.
type serverFlags struct {
	store            string
	dataDir          string
	http             string
	https            string
	etcdListen       string
	ephemeral        bool
	enableAdmission  []string
	disableAdmission []string
	eventTTL         time.Duration
	speed            float64
	paused           bool
	clock            *simclock.Clock // made by config
	authorization    []string
	webhooks         webhookFlags
	httpAuth         string
	tokenFile        string
	passwordFile     string
	anonymous        bool
	oidc             sandbox.OIDC
	oidcCA           string
	auditLog         string
	auditPolicy      string
	verbosity        verbosity
}

func (f *serverFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.store, "store", sandbox.StoreEtcd, "where objects are kept: `etcd or memory`")
	flags.StringVar(&f.dataDir, "data-dir", commands.DefaultDataDir(), "`directory` of etcd's data and the kubeconfig, kept between runs")
	flags.StringVar(&f.http, "http", commands.DefaultAddress, "`address` to serve the API on; port 0 picks a free one")
	flags.StringVar(&f.https, "https", defaultTLSAddress, "`address` to serve the API on with TLS and client certificates, \"\" for none;\nby default another port is taken if this one is in use")
	flags.StringVar(&f.etcdListen, "etcd-listen", "", "`address` to open etcd's client port on, for etcdctl (default: none)")
	flags.BoolVar(&f.ephemeral, "ephemeral", false, "use a temporary data directory without fsync, gone at exit")
	flags.StringSliceVar(&f.enableAdmission, "enable-admission-plugins", nil, "admission `plugins` beside the default ones")
	flags.StringSliceVar(&f.disableAdmission, "disable-admission-plugins", nil, "admission `plugins` to leave out")
	flags.DurationVar(&f.eventTTL, "event-ttl", time.Hour, "how long events are kept after their last write")
	flags.Float64Var(&f.speed, "speed", 1, "how many seconds of the cluster pass in one; see kubesim clock")
	flags.BoolVar(&f.paused, "paused", false, "stop the clock once all is ready")
	flags.StringVar(&f.httpAuth, "http-auth", sandbox.HTTPAuthLocal, "who comes by --http without credentials: `local or required`; local may do everything")
	flags.StringSliceVar(&f.authorization, "authorization-mode", nil, "who decides who may do what, in this order: `modes` of Node, RBAC, Webhook, AlwaysAllow, AlwaysDeny (default Node,RBAC)")
	f.webhooks.register(flags)
	flags.StringVar(&f.tokenFile, "token-auth-file", "", "CSV `file` of bearer tokens: token,user,uid,\"group1,group2\"")
	flags.StringVar(&f.passwordFile, "basic-auth-file", "", "CSV `file` of passwords: password,user,uid,\"group1,group2\"")
	flags.StringVar(&f.oidc.IssuerURL, "oidc-issuer-url", "", "`URL` of an OpenID Connect issuer whose ID tokens are believed (default: none)")
	flags.StringVar(&f.oidc.ClientID, "oidc-client-id", "", "client `ID` that the tokens must be for")
	flags.StringVar(&f.oidc.UsernameClaim, "oidc-username-claim", "sub", "`claim` that is the user name")
	flags.StringVar(&f.oidc.UsernamePrefix, "oidc-username-prefix", "", "`prefix` of user names, - for none (default: ISSUER# unless the claim is email)")
	flags.StringVar(&f.oidc.GroupsClaim, "oidc-groups-claim", "", "`claim` that names groups")
	flags.StringVar(&f.oidc.GroupsPrefix, "oidc-groups-prefix", "", "`prefix` of groups")
	flags.StringVar(&f.oidcCA, "oidc-ca-file", "", "`file` with the certificates that the issuer is believed by (default: the system's)")
	flags.StringVar(&f.auditLog, "audit-log", "", "`file` to log each request to, - for standard output (default: none)")
	flags.StringVar(&f.auditPolicy, "audit-policy", "", "`file` with the audit.k8s.io/v1 Policy of what to log (default: the metadata of all)")
	flags.BoolVar(&f.anonymous, "anonymous-auth", true, "let requests without credentials in as system:anonymous")
	f.verbosity.flag(flags)
}

// ready does what is to be done once the server is.
func (f *serverFlags) ready() {
	if f.paused {
		f.clock.Pause()
	}
}

// config makes the sandbox's configuration; cleanup removes what was temporary.
func (f *serverFlags) config(stderr io.Writer) (cfg sandbox.Config, cleanup func(), err error) {
	cleanup = func() {}
	keepPrivate()
	if f.ephemeral {
		if f.dataDir != commands.DefaultDataDir() {
			return sandbox.Config{}, nil, errors.New("--data-dir: of no use with --ephemeral, which has a temporary one")
		}
		if f.dataDir, err = os.MkdirTemp("", "kubesim-"); err != nil {
			return sandbox.Config{}, nil, err
		}
		cleanup = func() { _ = os.RemoveAll(f.dataDir) }
	}
	if !(f.speed > 0) {
		return sandbox.Config{}, nil, fmt.Errorf("--speed %v: must be more than 0", f.speed)
	}
	f.clock = simclock.New(f.speed)
	cfg = sandbox.Config{
		Clock: f.clock,
		Store: f.store, DataDir: f.dataDir, NoFsync: f.ephemeral, EtcdListen: f.etcdListen, HTTP: f.http, HTTPS: f.https, HTTPSAnyPort: f.https == defaultTLSAddress,
		EnableAdmissionPlugins: f.enableAdmission, DisableAdmissionPlugins: f.disableAdmission,
		EventTTL: f.eventTTL, Authorization: f.authorization, HTTPAuth: f.httpAuth,
		TokenFile: f.tokenFile, PasswordFile: f.passwordFile, NoAnonymous: !f.anonymous,
		AuditLog: f.auditLog, AuditPolicy: f.auditPolicy,
		Logger: f.verbosity.logger(stderr),
	}
	f.webhooks.apply(&cfg)
	if f.oidc.IssuerURL != "" {
		cfg.OIDC, cfg.OIDCCAFile = &f.oidc, f.oidcCA
	}
	return cfg, cleanup, nil
}

type upFlags struct {
	serverFlags
	schedulerConfig string

	pools  string
	stages string
	nodes  int
	bare   bool
	files  []string
}

func upCommand(started time.Time) *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a whole cluster in this process",
		Long: `Start a whole cluster in this process: etcd, API server, controllers, scheduler
and pretend nodes. It ends with Ctrl-C and goes on from its data directory the next time.

Files given with -f are posted once the cluster is ready. One that is refused is
reported with the API server's words and the cluster stays up.`,
		Example: "  kubesim up -f web.yaml\n  kubesim up --ephemeral --http 127.0.0.1:0 --nodes 100",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%q: name manifests with -f, as in kubesim up -f %s", args[0], args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), started, stdio{cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()})
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().IntVar(&f.nodes, "nodes", 3, "`number` of nodes")
	cmd.Flags().StringVar(&f.schedulerConfig, "scheduler-config", "", "`file` with a KubeSchedulerConfiguration: profiles, plugins, extenders")
	cmd.Flags().StringVar(&f.pools, "node-config", "", "`file` with pools of more nodes: sizes, zones, labels, taints, prices")
	cmd.Flags().StringVar(&f.stages, "stages", "", "`file` with Stages of kwok: how pods and nodes that they select live")
	cmd.Flags().BoolVar(&f.bare, "bare", false, "leave add-ons out")
	cmd.Flags().StringArrayVarP(&f.files, "filename", "f", nil, "`file` with manifests to post, - for stdin (repeatable)")
	return cmd
}

type stdio struct {
	in       io.Reader
	out, err io.Writer
}

func (f *upFlags) run(ctx context.Context, started time.Time, std stdio) (err error) {
	for _, name := range f.files {
		if _, err := os.Stat(name); err != nil && name != "-" {
			return fmt.Errorf("-f: %w", err)
		}
	}
	cfg, cleanup, err := f.config(std.err)
	if err != nil {
		return err
	}
	defer cleanup()
	cfg.Nodes, cfg.Bare = f.nodes, f.bare
	if cfg.Pools, err = readPools(f.pools); err != nil {
		return err
	}
	if cfg.Stages, err = readStages(f.stages); err != nil {
		return err
	}
	if cfg.Scheduler, err = schedulerConfiguration("--scheduler-config", f.schedulerConfig); err != nil {
		return err
	}
	lessons := lesson.NewServer()
	defer func() { err = errors.Join(err, lessons.Close()) }()
	cfg.Debug = map[string]http.Handler{lesson.Path: lessons, lesson.Path + "/": lessons}
	s, err := sandbox.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.WaitReady(ctx); err != nil {
		return err
	}
	f.ready()
	fmt.Fprintf(std.out, "kubesim is ready: %s (%d nodes) in %dms\n", s.URL(), f.nodes, time.Since(started).Milliseconds())
	greet(std.out, s.URL(), cfg.DataDir)
	if err := f.post(ctx, s, std); err != nil {
		fmt.Fprintln(std.err, "kubesim:", err)
	}
	releaseMemory()
	return waitEnd(ctx, s)
}

// greet tells how to go on. A sandbox that client commands don't find by
// themselves has to be named.
func greet(w io.Writer, url, dataDir string) {
	server := ""
	if url != "http://"+commands.DefaultAddress {
		fmt.Fprintf(w, "  export KUBECONFIG=%s\n", sandbox.KubeconfigPath(dataDir))
		if dataDir != commands.DefaultDataDir() {
			server = " --server " + url
		}
	}
	fmt.Fprintf(w, `  kubectl get nodes                    or kubesim kubectl%[2]s get nodes
  curl %[1]s/api/v1/nodes
  kubesim trace%[2]s deployment/NAME   each step from a request to Running
  %[1]s/ui/          the same in a browser
Ctrl-C ends it.
`, url, server)
}

// waitEnd returns nil when the user ends the sandbox. Until then it keeps the
// process small after a burst of work, as after the start, which goes on for a
// moment when all is ready.
func waitEnd(ctx context.Context, s *sandbox.Sandbox) error {
	lull := time.NewTimer(5 * time.Second)
	defer lull.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.Failed():
			return err
		case <-lull.C:
			releaseMemory()
			lull.Reset(2 * time.Minute) // as often as the runtime collects garbage without need
		}
	}
}

const defaultTLSAddress = "127.0.0.1:6443"
