package sandbox

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	oteltrace "go.opentelemetry.io/otel/trace"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"github.com/kubesim/kubesim/apiserver"
	"github.com/kubesim/kubesim/apiserver/audit"
	"github.com/kubesim/kubesim/apiserver/authentication"
	"github.com/kubesim/kubesim/sandbox/fault"
	"github.com/kubesim/kubesim/sandbox/pki"
	"github.com/kubesim/kubesim/sandbox/simclock"
	"github.com/kubesim/kubesim/store"
	"github.com/kubesim/kubesim/store/etcd"
	"github.com/kubesim/kubesim/store/memory"
	"github.com/kubesim/kubesim/trace"
	"github.com/kubesim/kubesim/ui"
)

// Sandbox is a running cluster. Start makes it.
type Sandbox struct {
	cfg      Config
	store    store.Store
	server   *apiserver.Server
	recorder *trace.Recorder
	tracer   oteltrace.TracerProvider
	registry *prometheus.Registry
	keys     *pki.Keys
	fronts   []*front // plain HTTP first
	audit    *os.File // nil without one

	stop       context.CancelFunc // ends the components
	requests   sync.WaitGroup     // of parts of this process
	traffic    traffic
	components sync.WaitGroup
	serving    sync.WaitGroup
	failed     chan error
	kubelets   *pipes // connections to the kubelets
	faults     *fault.Injector
}

// Start returns once the API server answers; the components come up beside it,
// see WaitReady. The context bounds Start alone, Close ends the sandbox.
func Start(ctx context.Context, cfg Config) (*Sandbox, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &Sandbox{
		cfg: cfg, recorder: trace.NewRecorder(0), registry: prometheus.NewRegistry(),
		failed: make(chan error, 1), kubelets: newPipes(),
	}
	s.tracer = s.recorder.Provider()
	s.faults = fault.New(s.cfg.Clock, s.hasTarget)
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start brings up the parts in the order in which they need each other. The
// port comes first, so that one in use is told at once.
func (s *Sandbox) start(ctx context.Context) (err error) {
	if err := s.listen(); err != nil {
		return err
	}
	if s.store, err = openStore(ctx, s.cfg); err != nil {
		return err
	}
	if s.keys, err = pki.Open(s.cfg.pkiDir(), s.cfg.serverNames(), s.cfg.Clock.Now()); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	believe, err := s.authentication()
	if err != nil {
		return err
	}
	judge, err := s.cfg.authorizationWebhook()
	if err != nil {
		return err
	}
	log, err := s.openAudit()
	if err != nil {
		return err
	}
	s.server, err = apiserver.New(ctx, apiserver.Config{
		Store: s.store, Clock: s.cfg.Clock, Tracer: s.tracer, Logger: s.cfg.Logger, Registry: s.registry,
		EnableAdmissionPlugins: s.cfg.EnableAdmissionPlugins, DisableAdmissionPlugins: s.cfg.DisableAdmissionPlugins,
		AllowedHosts: s.cfg.allowedHosts(), EventTTL: s.cfg.EventTTL, Debug: s.debug(), UI: ui.Handler(s.recorder.Spans), DialKubelet: s.kubelets.dial(s.cfg.APIOnly), Metrics: !s.cfg.Bare && !s.cfg.APIOnly,
		Faults: s.faults.Serve,
		Audit:  log, Authentication: believe, TokenKey: s.keys.ServiceAccount, Authorization: s.cfg.Authorization, AuthorizationWebhook: judge,
	})
	if err != nil {
		return err
	}
	s.serving.Go(func() {
		if err := s.server.Wait(); err != nil {
			s.fail(fmt.Errorf("API server: %w", err))
		}
	})
	s.serve()
	if err := s.writeKubeconfig(); err != nil {
		return err
	}
	if !s.cfg.APIOnly {
		s.startComponents()
	}
	return nil
}

// authentication says whom the API server is to believe.
func (s *Sandbox) authentication() (cfg authentication.Config, err error) {
	cfg = authentication.Config{
		ClientCA: x509.NewCertPool(), Required: s.cfg.HTTPAuth == HTTPAuthRequired, NoAnonymous: s.cfg.NoAnonymous,
	}
	cfg.ClientCA.AddCert(s.keys.CA.Certificate)
	if cfg.Webhook, err = s.cfg.tokenWebhook(); err != nil {
		return cfg, err
	}
	for _, f := range []struct {
		flag, path string
		file       **authentication.File
	}{
		{"--token-auth-file", s.cfg.TokenFile, &cfg.TokenFile},
		{"--basic-auth-file", s.cfg.PasswordFile, &cfg.PasswordFile},
	} {
		if f.path == "" {
			continue
		}
		if *f.file, err = authentication.ReadFile(f.path); err != nil {
			return cfg, fmt.Errorf("%s: %w", f.flag, err)
		}
	}
	if cfg.OIDC = s.cfg.OIDC; cfg.OIDC == nil {
		return cfg, nil
	}
	if s.cfg.OIDCCAFile != "" {
		certificates, err := cert.CertsFromFile(s.cfg.OIDCCAFile)
		if err != nil {
			return cfg, fmt.Errorf("--oidc-ca-file: %w", err)
		}
		cfg.OIDC.CA = x509.NewCertPool()
		for _, c := range certificates {
			cfg.OIDC.CA.AddCert(c)
		}
	}
	return cfg, cfg.OIDC.Validate()
}

func openStore(ctx context.Context, cfg Config) (store.Store, error) {
	if cfg.Store == StoreMemory {
		return memory.New(), nil
	}
	s, err := etcd.Open(ctx, etcd.Config{
		DataDir: cfg.etcdDir(), ClientListen: cfg.EtcdListen, NoFsync: cfg.NoFsync,
		Endpoints: cfg.EtcdServers, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, err // not s, which would be a store.Store that is not nil
	}
	return s, nil
}

// openAudit opens the audit log, nil for none.
func (s *Sandbox) openAudit() (*audit.Log, error) {
	var out io.Writer = os.Stdout
	switch s.cfg.AuditLog {
	case "":
		if s.cfg.AuditPolicy != "" {
			return nil, errors.New("--audit-policy: of no use without --audit-log")
		}
		return nil, nil
	case "-":
	default:
		file, err := os.OpenFile(s.cfg.AuditLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("--audit-log: %w", err)
		}
		s.audit, out = file, file
	}
	log, err := audit.New(out, s.cfg.AuditPolicy, s.cfg.Clock, func(err error) { s.cfg.Logger.Error("Failed to write the audit log", "err", err) })
	if err != nil {
		return nil, fmt.Errorf("--audit-policy: %w", err)
	}
	return log, nil
}

// debug serves what only this process knows.
func (s *Sandbox) debug() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(trace.SpansPath, s.recorder)
	mux.Handle(fault.Path, s.faults)
	mux.Handle(fault.Path+"/", s.faults)
	for path, handler := range s.cfg.Debug {
		mux.Handle(path, handler)
	}
	if control, ok := s.cfg.Clock.(*simclock.Clock); ok {
		control.Settle(s.traffic.wait)
		mux.Handle(simclock.Path, control)
	}
	return mux
}

// URL is where the API is served, "" without a listener. Plain HTTP goes first.
func (s *Sandbox) URL() string {
	if len(s.fronts) == 0 {
		return ""
	}
	return s.fronts[0].url()
}

// RESTConfig reaches the API server inside this process as the local user, who
// may do everything, without rate limits. Each call returns a new one, which may
// be changed.
func (s *Sandbox) RESTConfig() *rest.Config {
	return s.restConfigAs(authentication.LocalUser, authentication.Masters)
}

// restConfigAs does the same as another user.
func (s *Sandbox) restConfigAs(user string, groups ...string) *rest.Config {
	return &rest.Config{
		Host: "http://localhost",
		Transport: &transport{
			handler: s.server.Handler(), running: &s.requests, traffic: &s.traffic,
			user: authenticationv1.UserInfo{Username: user, Groups: groups},
		},
		QPS: -1,
		ContentConfig: rest.ContentConfig{
			ContentType:        runtime.ContentTypeProtobuf,
			AcceptContentTypes: runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON,
		},
	}
}

// Faults are the broken links of this cluster.
func (s *Sandbox) Faults() *fault.Injector { return s.faults }

// Recorder keeps the spans of this process.
func (s *Sandbox) Recorder() *trace.Recorder { return s.recorder }

// Failed delivers the error of a part that ended by itself. The sandbox is of
// no use then and should be closed.
func (s *Sandbox) Failed() <-chan error { return s.failed }

// fail tells the first failure; those that follow from it are of no interest.
func (s *Sandbox) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// Close ends the sandbox: first the components, while there still is an API
// server that takes their last words, then watches and connections, then the store.
func (s *Sandbox) Close() error {
	if s.stop != nil {
		s.stop()
	}
	s.faults.Close() // what they hold up could not end
	s.waitComponents()
	_ = s.kubelets.Close()
	if s.server != nil {
		s.server.Close()
	}
	err := s.closeFronts()
	s.components.Wait()
	s.requests.Wait()
	s.serving.Wait()
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	if s.audit != nil {
		err = errors.Join(err, s.audit.Close())
	}
	return err
}

// waitComponents gives the components a moment to release their Leases.
func (s *Sandbox) waitComponents() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.components.Wait()
	}()
	grace := time.NewTimer(componentGrace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		s.cfg.Logger.Warn("Components took long to end, their requests are cut off")
	}
}
