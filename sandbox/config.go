package sandbox

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/apiserver"
	"github.com/kubesim/kubesim/apiserver/authentication"
	"github.com/kubesim/kubesim/fakelet"
	"github.com/kubesim/kubesim/fakelet/stage"
	"github.com/kubesim/kubesim/sandbox/pki"
)

// The stores a Config may name.
const (
	StoreMemory = "memory"
	StoreEtcd   = "etcd"
)

// The values of Config.HTTPAuth.
const (
	HTTPAuthLocal    = "local"
	HTTPAuthRequired = "required"
)

// OIDC is an issuer of ID tokens.
type OIDC = authentication.OIDC

// Config says what a sandbox is made of. The zero value is a control plane in
// memory without nodes and without a listener.
type Config struct {
	// Store is StoreMemory, the default, or StoreEtcd.
	Store string
	// DataDir holds etcd's data and the kubeconfig. Required for the embedded
	// etcd; without it there is no kubeconfig.
	DataDir string
	// EtcdListen is where the embedded etcd takes clients such as etcdctl; "" for nowhere.
	EtcdListen string
	// EtcdServers are the URLs of an external etcd to use instead of the embedded one.
	EtcdServers []string
	// NoFsync trades durability for speed.
	NoFsync bool
	// HTTP is the address to listen on; "" for none, port 0 for a free one.
	HTTP string
	// HTTPS is the same for TLS, with client certificates.
	HTTPS string
	// HTTPSAnyPort lets a free port stand in for the one of HTTPS if that is taken.
	HTTPSAnyPort bool
	// Nodes is how many nodes are played: node-1 to node-N.
	Nodes int
	// Bare leaves out what clusters have beside the control plane: the default
	// StorageClass with its provisioner.
	Bare bool
	// Scheduler is the scheduler's configuration, the default one if nil.
	Scheduler *configv1.KubeSchedulerConfiguration
	// Controllers selects by name: "*" is all, "-name" leaves one out. Empty is all
	// but, with Bare, the add-ons.
	Controllers []string
	// NoControllers and NoScheduler leave these parts out.
	NoControllers, NoScheduler bool
	// Pools are nodes of other sizes that are played as well.
	Pools []fakelet.Pool
	// Stages are the lives of pods and nodes that they select.
	Stages stage.Stages
	// APIOnly leaves out the controllers, the scheduler and the nodes.
	APIOnly bool
	// Admission plugins on top of the default ones, and those left out.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string
	// EventTTL is how long events are kept after their last write, an hour if 0.
	EventTTL time.Duration

	// Authorization are the modes in the order in which they are asked, Node and
	// RBAC if empty.
	Authorization []string
	// AuthorizationWebhook and TokenWebhook are kubeconfig files that lead to the
	// webhook of mode Webhook, and to the one that is asked about tokens; "" for none.
	// Their answers count for so long, as in kube-apiserver if 0.
	AuthorizationWebhook, TokenWebhook               string
	AuthorizationAllowedTTL, AuthorizationRefusedTTL time.Duration
	TokenWebhookTTL                                  time.Duration
	// HTTPAuth is HTTPAuthLocal, the default: whoever comes by plain HTTP without
	// credentials may do everything; or HTTPAuthRequired.
	HTTPAuth string
	// TokenFile and PasswordFile hold the credentials of users, see authentication.File.
	TokenFile, PasswordFile string
	// AuditLog is the file to log requests to, "-" for standard output, "" for
	// none; AuditPolicy is the file that says which, all of them if "".
	AuditLog, AuditPolicy string
	// OIDC is an issuer of ID tokens, nil for none; OIDCCAFile has the certificates
	// that it is believed by, "" for the system's.
	OIDC       *OIDC
	OIDCCAFile string
	// NoAnonymous refuses who has no credentials.
	NoAnonymous bool
	// Debug has what else is served below /debug/kubesim/, by path.
	Debug map[string]http.Handler

	Clock  clock.WithTicker // real if nil
	Logger *slog.Logger     // slog.Default() if nil
}

// validate fills in the defaults. Errors name the flags of the command, which
// are the fields in kebab case.
func (c *Config) validate() error {
	if c.Store == "" {
		c.Store = StoreMemory
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	switch {
	case c.Store != StoreMemory && c.Store != StoreEtcd:
		return fmt.Errorf("--store %q: must be %s or %s", c.Store, StoreEtcd, StoreMemory)
	case c.Nodes < 0:
		return fmt.Errorf("--nodes %d: must not be negative", c.Nodes)
	case c.Store == StoreMemory && len(c.EtcdServers) > 0:
		return fmt.Errorf("--etcd-servers: can't be used with --store %s", StoreMemory)
	case c.Store == StoreEtcd && len(c.EtcdServers) == 0 && c.DataDir == "":
		return fmt.Errorf("--data-dir: required with --store %s", StoreEtcd)
	}
	if len(c.Authorization) == 0 {
		c.Authorization = apiserver.DefaultModes()
	}
	c.AuthorizationAllowedTTL = cmp.Or(c.AuthorizationAllowedTTL, defaultAllowedTTL)
	c.AuthorizationRefusedTTL = cmp.Or(c.AuthorizationRefusedTTL, defaultRefusedTTL)
	c.TokenWebhookTTL = cmp.Or(c.TokenWebhookTTL, defaultTokenTTL)
	if err := apiserver.ValidateModes(c.Authorization, c.AuthorizationWebhook != ""); err != nil {
		return fmt.Errorf("--authorization-mode %s: %w", strings.Join(c.Authorization, ","), err)
	}
	if c.HTTPAuth == "" {
		c.HTTPAuth = HTTPAuthLocal
	}
	switch {
	case c.HTTPAuth != HTTPAuthLocal && c.HTTPAuth != HTTPAuthRequired:
		return fmt.Errorf("--http-auth %q: must be %s or %s", c.HTTPAuth, HTTPAuthLocal, HTTPAuthRequired)
	}
	for flag, address := range map[string]string{"--http": c.HTTP, "--https": c.HTTPS} {
		host, _, err := net.SplitHostPort(address)
		if err != nil && address != "" {
			return fmt.Errorf("%s %q: %w", flag, address, err)
		}
		if flag == "--http" && address != "" && c.HTTPAuth == HTTPAuthLocal && !isLoopback(host) {
			return fmt.Errorf("--http %s: whoever reaches it could do everything; add --http-auth %s, or choose an address of this machine alone", address, HTTPAuthRequired)
		}
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// etcdDir is where the embedded etcd lives, "" with an external one.
func (c *Config) etcdDir() string {
	if len(c.EtcdServers) > 0 {
		return ""
	}
	return filepath.Join(c.DataDir, "etcd")
}

// pkiDir is where the keys live, "" for memory.
func (c *Config) pkiDir() string {
	if c.DataDir == "" {
		return ""
	}
	return filepath.Join(c.DataDir, "pki")
}

// allowedHosts are the names under which clients may call the server: a
// listener on another address than the loopback's is called by that address.
func (c *Config) allowedHosts() []string {
	var hosts []string
	for _, address := range []string{c.HTTP, c.HTTPS} {
		host, _, err := net.SplitHostPort(address)
		if err == nil && host != "" && !net.ParseIP(host).IsUnspecified() {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// serverNames are what the API server is called by, from outside and from pods.
func (c *Config) serverNames() pki.Names {
	names := pki.Names{
		DNS: []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		IPs: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.IPv4(10, 96, 0, 1)},
	}
	for _, host := range c.allowedHosts() {
		if ip := net.ParseIP(host); ip == nil {
			names.DNS = append(names.DNS, host)
		} else {
			names.IPs = append(names.IPs, ip)
		}
	}
	return names
}
