package sandbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/apiserver/authentication"
	"github.com/kubesim/kubesim/controllers"
	"github.com/kubesim/kubesim/fakelet"
	"github.com/kubesim/kubesim/sandbox/fault"
	"github.com/kubesim/kubesim/scheduler"
)

// component is a part that meets the others through the API alone.
type component struct {
	name string
	run  func(context.Context, prometheus.Registerer) error
}

// parts are the components, in the order of the pipeline.
func (s *Sandbox) parts() []component {
	return []component{
		{fault.Controllers, func(ctx context.Context, r prometheus.Registerer) error {
			return controllers.Run(ctx, controllers.Config{
				RESTConfig: s.restConfigAs("system:kube-controller-manager"), As: s.accountConfig, Clock: s.cfg.Clock, Tracer: s.tracer, Logger: s.cfg.Logger, Registerer: r, Gate: s.faults.Gate,
				RootCA: string(s.keys.CA.CertificatePEM()), TokenKey: s.keys.ServiceAccount, Authority: s.authority(), Controllers: s.controllers(),
			})
		}},
		{fault.Scheduler, func(ctx context.Context, r prometheus.Registerer) error {
			return scheduler.Run(ctx, scheduler.Config{
				RESTConfig: s.restConfigAs("system:kube-scheduler"), Clock: s.cfg.Clock, Tracer: s.tracer, Logger: s.cfg.Logger, Registerer: r, Gate: s.faults.Gate,
				Configuration: s.cfg.Scheduler,
			})
		}},
		{fault.Kubelets, func(ctx context.Context, r prometheus.Registerer) error {
			return fakelet.Run(ctx, fakelet.Config{
				RESTConfig: s.RESTConfig(), Clock: s.cfg.Clock, Tracer: s.tracer, Logger: s.cfg.Logger,
				Registerer: r, Nodes: s.cfg.Nodes, Pools: s.cfg.Pools, Stages: s.cfg.Stages, Listener: s.kubelets.listener(), Silent: s.faults.Silent,
			})
		}},
	}
}

// controllers names those that run.
func (s *Sandbox) controllers() []string {
	switch {
	case len(s.cfg.Controllers) > 0:
		return s.cfg.Controllers
	case s.cfg.Bare:
		return nil
	}
	return controllers.AddOns()
}

// accountConfig reaches the API as a ServiceAccount of kube-system, which need
// not exist for that.
func (s *Sandbox) accountConfig(name string) *rest.Config {
	user := authentication.AccountUser("kube-system", name)
	if controllers.IsAddOn(name) {
		user.Groups = append(user.Groups, authentication.Masters)
	}
	return s.restConfigAs(user.Username, user.Groups...)
}

// authority is what signs certificates.
func (s *Sandbox) authority() *tls.Certificate {
	pair := s.keys.CA.TLS()
	return &pair
}

// startComponents runs them until Close.
func (s *Sandbox) startComponents() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	for _, part := range s.parts() {
		if part.name == fault.Scheduler && s.cfg.NoScheduler || part.name == fault.Controllers && s.cfg.NoControllers {
			continue
		}
		s.components.Go(func() {
			err := s.faults.Keep(ctx, part.name, func(ctx context.Context) error {
				r := &lifeRegisterer{Registerer: s.registry}
				defer r.end()
				return part.run(ctx, r)
			})
			if err == nil && ctx.Err() == nil {
				err = fmt.Errorf("it ended by itself")
			}
			if err != nil {
				s.fail(fmt.Errorf("%s: %w", part.name, err))
			}
		})
	}
}

// hasTarget refuses what no fault can be for.
func (s *Sandbox) hasTarget(target string) error {
	names, err := controllers.Names(s.controllers())
	switch {
	case err != nil:
		return err
	case s.cfg.APIOnly:
		return errors.New("this cluster is an API server alone, without a process to disturb")
	case strings.HasPrefix(target, "kubelet/") || target == fault.Kubelets:
		return nil
	case target == fault.Scheduler && !s.cfg.NoScheduler:
		return nil
	case !s.cfg.NoControllers && (target == fault.Controllers || slices.Contains(names, target)):
		return nil
	}
	return fmt.Errorf("target %q: must be %s, %s, %s, kubelet/NODE or a controller: %s", target,
		fault.Controllers, fault.Scheduler, fault.Kubelets, strings.Join(names, ", "))
}

// lifeRegisterer takes the metrics of a process out again when it ends, as the
// next one brings its own.
type lifeRegisterer struct {
	prometheus.Registerer
	mu  sync.Mutex
	all []prometheus.Collector
}

// Register implements prometheus.Registerer.
func (r *lifeRegisterer) Register(c prometheus.Collector) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.Registerer.Register(c)
	if err == nil {
		r.all = append(r.all, c)
	}
	return err
}

// MustRegister implements prometheus.Registerer.
func (r *lifeRegisterer) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if err := r.Register(c); err != nil {
			panic(err)
		}
	}
}

func (r *lifeRegisterer) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.all {
		r.Unregister(c)
	}
}
