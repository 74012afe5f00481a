package sandbox

import (
	"context"
	"crypto/tls"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/kubesim/kubesim/apiserver/authentication"
	"github.com/kubesim/kubesim/controllers"
	"github.com/kubesim/kubesim/fakelet"
	"github.com/kubesim/kubesim/scheduler"
)

// component is a part that meets the others through the API alone.
type component struct {
	name string
	run  func(context.Context) error
}

// parts are the components, in the order of the pipeline.
func (s *Sandbox) parts() []component {
	return []component{
		{"controllers", func(ctx context.Context) error {
			return controllers.Run(ctx, controllers.Config{
				RESTConfig: s.restConfigAs("system:kube-controller-manager"), As: s.accountConfig, Clock: s.cfg.Clock, Tracer: s.tracer, Logger: s.cfg.Logger, Registerer: s.registry,
				RootCA: string(s.keys.CA.CertificatePEM()), TokenKey: s.keys.ServiceAccount, Authority: s.authority(), Controllers: s.controllers(),
			})
		}},
		{"scheduler", func(ctx context.Context) error {
			return scheduler.Run(ctx, scheduler.Config{
				RESTConfig: s.restConfigAs("system:kube-scheduler"), Clock: s.cfg.Clock, Tracer: s.tracer, Logger: s.cfg.Logger, Registerer: s.registry,
				Configuration: s.cfg.Scheduler,
			})
		}},
		{"fakelet", func(ctx context.Context) error {
			return fakelet.Run(ctx, fakelet.Config{
				RESTConfig: s.RESTConfig(), Clock: s.cfg.Clock, Tracer: s.tracer, Logger: s.cfg.Logger,
				Registerer: s.registry, Nodes: s.cfg.Nodes, Pools: s.cfg.Pools, Stages: s.cfg.Stages, Listener: s.kubelets,
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
		if part.name == "scheduler" && s.cfg.NoScheduler || part.name == "controllers" && s.cfg.NoControllers {
			continue
		}
		s.components.Go(func() {
			err := part.run(ctx)
			if err == nil && ctx.Err() == nil {
				err = fmt.Errorf("it ended by itself")
			}
			if err != nil {
				s.fail(fmt.Errorf("%s: %w", part.name, err))
			}
		})
	}
}
