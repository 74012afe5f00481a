package controllers

import (
	"context"
	"crypto"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// Config says which controllers to run, and how. Only RESTConfig is required.
type Config struct {
	RESTConfig *rest.Config
	// As reaches the API as a ServiceAccount of kube-system, for the controllers to
	// have no more rights than each needs; all use RESTConfig if nil.
	As         func(account string) *rest.Config
	Clock      clock.WithTicker         // real if nil
	Tracer     oteltrace.TracerProvider // none if nil
	Logger     *slog.Logger             // slog.Default() if nil
	Registerer prometheus.Registerer    // no metrics if nil
	// Gate is called before each reconcile and may hold it up until the context
	// ends; nothing is held up if nil.
	Gate func(ctx context.Context, component, object string)
	// LeaderElect makes Run wait for the Lease kube-system/kube-controller-manager
	// first, so that several processes may run of which one works.
	LeaderElect bool
	// Controllers selects by name: "*" is all, "-name" leaves one out. Empty is all.
	Controllers []string
	// ConcurrentSyncs is how many objects each controller works on at a time; 5 if 0.
	ConcurrentSyncs int
	// RootCA is the PEM bundle that every namespace gets in kube-root-ca.crt.
	RootCA string
	// TokenKey signs the tokens of ServiceAccounts that stand in Secrets. It must be
	// the API server's for that to believe them; one of its own if nil.
	TokenKey crypto.Signer
	// Authority signs what CertificateSigningRequests ask for; nothing is signed if nil.
	Authority *tls.Certificate
	// ClusterCIDR is the network that nodes get their parts of; 10.244.0.0/16 if zero.
	ClusterCIDR netip.Prefix
}

func (c *Config) validate() error {
	if c.RESTConfig == nil {
		return errors.New("controllers: no RESTConfig")
	}
	if c.ConcurrentSyncs < 0 {
		return fmt.Errorf("controllers: ConcurrentSyncs %d: must not be negative", c.ConcurrentSyncs)
	}
	_, err := selected(c.Controllers)
	return err
}

func (c *Config) setDefaults() {
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Tracer == nil {
		c.Tracer = noop.NewTracerProvider()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.ConcurrentSyncs == 0 {
		c.ConcurrentSyncs = 5
	}
	if !c.ClusterCIDR.IsValid() {
		c.ClusterCIDR = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, 0, 0}), 16)
	}
}
