package sandbox

import (
	"fmt"
	"log/slog"
	"net"
	"path/filepath"

	"k8s.io/utils/clock"
)

// The stores a Config may name.
const (
	StoreMemory = "memory"
	StoreEtcd   = "etcd"
)

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
	// Nodes is how many nodes are played: node-1 to node-N.
	Nodes int
	// APIOnly leaves out the controllers, the scheduler and the nodes.
	APIOnly bool
	// Admission plugins on top of the default ones, and those left out.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string

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
	if c.HTTP == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(c.HTTP); err != nil {
		return fmt.Errorf("--http %q: %w", c.HTTP, err)
	}
	return nil
}

// etcdDir is where the embedded etcd lives, "" with an external one.
func (c *Config) etcdDir() string {
	if len(c.EtcdServers) > 0 {
		return ""
	}
	return filepath.Join(c.DataDir, "etcd")
}

// allowedHosts are the names under which clients may call the server: a
// listener on another address than the loopback's is called by that address.
func (c *Config) allowedHosts() []string {
	host, _, err := net.SplitHostPort(c.HTTP)
	if err != nil || host == "" || net.ParseIP(host).IsUnspecified() {
		return nil
	}
	return []string{host}
}
