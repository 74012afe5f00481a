package apiserver

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/apiserver/admission"
	"github.com/kubesim/kubesim/apiserver/audit"
	"github.com/kubesim/kubesim/apiserver/authentication"
	"github.com/kubesim/kubesim/apiserver/cache"
	"github.com/kubesim/kubesim/apiserver/discovery"
	"github.com/kubesim/kubesim/apiserver/fairness"
	"github.com/kubesim/kubesim/apiserver/fieldmanager"
	"github.com/kubesim/kubesim/apiserver/kinds"
	"github.com/kubesim/kubesim/apiserver/openapi"
	"github.com/kubesim/kubesim/apiserver/rbac"
	"github.com/kubesim/kubesim/store"
)

// compactionInterval is how long overwritten revisions can be read, as in kube-apiserver.
const compactionInterval = 5 * time.Minute

// Config says what a Server works with. Only Store is required.
type Config struct {
	Store    store.Store
	Clock    clock.WithTicker
	Tracer   trace.TracerProvider
	Logger   *slog.Logger
	Registry *prometheus.Registry // of /metrics
	// Admission plugins on top of the default ones, and those left out.
	EnableAdmissionPlugins, DisableAdmissionPlugins []string
	// Authentication says whom to believe. What it looks up it finds in this server.
	Authentication authentication.Config
	// TokenKey signs the tokens of ServiceAccounts; a key of its own if nil.
	TokenKey crypto.Signer
	// Audit is told of every request; nobody is if nil.
	Audit *audit.Log
	// Authorization are the modes in the order in which they are asked, DefaultModes
	// if empty; AuthorizationWebhook is asked in mode Webhook.
	Authorization        []string
	AuthorizationWebhook authorizer.Authorizer
	// AllowedHosts are the names that a Host or Origin header may carry besides
	// loopback addresses and in-memory clients.
	AllowedHosts []string
	// EventTTL is how long events are kept after their last write, an hour if 0.
	EventTTL time.Duration
	// DialKubelet reaches the kubelets in this process by the names of their nodes;
	// others have an address.
	DialKubelet func(ctx context.Context, node string) (net.Conn, error)
	// Metrics has the metrics API served, from what the kubelets report.
	Metrics bool
	// Faults, unless nil, takes every request whose sender is known, and what it
	// asks for. It calls next, with the writer or one of its own, or returns an
	// error for the client.
	Faults func(w http.ResponseWriter, r *http.Request, asked func() *rbac.Attributes, next http.Handler) error
	// Debug is served below /debug/kubesim/.
	Debug http.Handler
	// UI is served below /ui/.
	UI http.Handler
}

func (c *Config) setDefaults() error {
	if c.Store == nil {
		return fmt.Errorf("apiserver: a store is required")
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Tracer == nil {
		c.Tracer = noop.NewTracerProvider()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if len(c.Authorization) == 0 {
		c.Authorization = DefaultModes()
	}
	if err := ValidateModes(c.Authorization, c.AuthorizationWebhook != nil); err != nil {
		return fmt.Errorf("--authorization-mode: %w", err)
	}
	if c.EventTTL <= 0 {
		c.EventTTL = eventTTL
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	return nil
}

// Server is the API server. It is ready when New returns.
type Server struct {
	cfg       Config
	log       *slog.Logger
	clock     clock.WithTicker
	tracer    trace.Tracer
	store     store.Store
	cache     *cache.Cache
	table     *table
	codec     *codec
	admission *admission.Chain
	// Who sends a request, and what he may do; authorizer is nil without mode RBAC.
	authenticator *authentication.Authenticator
	authorizer    *rbac.Authorizer
	tokens        *authentication.Tokens
	fairness      *fairness.Dispenser

	metrics  *metrics
	services *serviceAllocator
	types    func() (managedfields.TypeConverter, error) // of built-in kinds, for managed fields
	sets     fieldmanager.Sets
	// definitions add custom resources to the table.
	definitions *definitions
	aggregation *aggregation
	discovery   *discovery.Handler
	openapi     *openapi.Handler
	handler     http.Handler
	buffers     sync.Pool     // of senders
	inFlight    chan struct{} // a place for each request being worked on
	watches     watches

	stop    context.CancelCauseFunc
	ended   context.Context // done when the server ends, for the cause it has: ends watches
	running sync.WaitGroup
}

// errClosed is the cause of an end by Close.
var errClosed = errors.New("apiserver: closed")

// New fills the cache, creates what every cluster begins with, and returns a
// server that is ready. The context bounds New alone.
func New(ctx context.Context, cfg Config) (*Server, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: cfg.Logger, clock: cfg.Clock, store: cfg.Store,
		tracer: cfg.Tracer.Tracer("apiserver"),
		cache:  cache.New(cfg.Store), codec: newCodec(kinds.Scheme()), metrics: newMetrics(cfg.Registry),
		inFlight: make(chan struct{}, maxInFlight), fairness: fairness.New(maxInFlight),
	}
	s.types = fieldmanager.Builtin(s.codec.scheme)
	s.table = newTable(s.cache, kinds.WithRules(kinds.Builtin(), s.now))
	s.services = newServiceAllocator(s)
	s.definitions = newDefinitions(s)
	s.aggregation = newAggregation(s)
	s.discovery = discovery.New(s.kinds, s.aggregation.versions)
	s.openapi = openapi.New(s.kinds, s.codec.scheme, s.aggregation.documents)
	var err error
	if s.admission, err = admission.New(cacheLister{s}, s.clock, cfg.DisableAdmissionPlugins, cfg.EnableAdmissionPlugins, s.dynamicPlugins()...); err != nil {
		return nil, err
	}
	if err := s.secure(); err != nil {
		return nil, err
	}
	if err := s.cache.Fill(ctx); err != nil {
		return nil, err
	}
	s.ended, s.stop = context.WithCancelCause(context.Background())
	s.definitions.catchUp()
	s.running.Go(s.follow)
	s.running.Go(s.definitions.run)
	s.running.Go(s.aggregation.run)
	s.running.Go(s.compact)
	s.running.Go(s.expire)
	s.handler = s.filters(s.routes())
	if err := s.bootstrap(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("creating the first objects: %w", err)
	}
	s.running.Go(s.keepFlowControl)
	return s, nil
}

// kinds are all rows of the table as the newest definitions have it.
func (s *Server) kinds() []*kinds.Kind {
	s.definitions.catchUp()
	return s.table.kinds()
}

// secure makes what finds out who sends a request and what he may do.
func (s *Server) secure() (err error) {
	key := s.cfg.TokenKey
	if key == nil {
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return err
		}
	}
	if s.tokens, err = authentication.NewTokens(key, s.clock); err != nil {
		return err
	}
	believe := s.cfg.Authentication
	believe.Tokens, believe.Bootstrap, believe.Objects, believe.Clock = s.tokens, true, cacheLister{s}, s.clock
	s.authenticator = authentication.New(believe)
	if slices.Contains(s.cfg.Authorization, ModeRBAC) {
		s.authorizer = rbac.New(roles{s})
	}
	return nil
}

// Handler serves the API.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends all watches and background work. It leaves the store open.
func (s *Server) Close() {
	s.stop(errClosed)
	s.running.Wait()
}

// Wait returns when the server has ended: nil after Close, else why it can't
// serve any more.
func (s *Server) Wait() error {
	<-s.ended.Done()
	if err := context.Cause(s.ended); !errors.Is(err, errClosed) {
		return err
	}
	return nil
}

// follow keeps the cache up to date. Without the store's watch nothing that is
// written would be seen, so its end is the server's.
func (s *Server) follow() {
	err := s.cache.Run(s.ended)
	s.stop(fmt.Errorf("lost the watch on the store: %w", err))
}

// compact forgets, at every interval, what was overwritten before the last one.
func (s *Server) compact() {
	ticker := s.clock.NewTicker(compactionInterval)
	defer ticker.Stop()
	for last := s.cache.Revision(); ; {
		select {
		case <-s.ended.Done():
			return
		case <-ticker.C():
		}
		now := s.cache.Revision()
		if last > 0 && now > last {
			if err := s.store.Compact(s.ended, last); err != nil && s.ended.Err() == nil {
				s.log.Error("Failed to compact the store", "revision", last, "err", err)
			}
			s.cache.Forget(last)
			s.watches.compacted.Store(last)
		}
		last = now
	}
}
