package runner

import (
	"crypto"
	"crypto/tls"
	"log/slog"
	"net/netip"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

// Env is what controllers are constructed from.
type Env struct {
	Client   kubernetes.Interface
	Metadata metadata.Interface
	Scales   scale.ScalesGetter
	Mapper   meta.ResettableRESTMapper // from discovery, remembered until it is reset
	// RESTConfig makes clients of other APIs.
	RESTConfig *rest.Config
	Informers  informers.SharedInformerFactory // not started
	// Events returns the recorder of a component.
	Events func(component string) record.EventRecorder
	Clock  clock.WithTicker
	Logger *slog.Logger
	// RootCA is the PEM bundle that pods verify the API server with.
	RootCA    string
	TokenKey  crypto.Signer    // of ServiceAccounts, may be nil
	Authority *tls.Certificate // that signs certificates, may be nil
	// ClusterCIDR is the network that nodes get their parts of.
	ClusterCIDR netip.Prefix
}
