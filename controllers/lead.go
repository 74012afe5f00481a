package controllers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var errLeadLost = errors.New("controllers: lost the lead to another process")

// lead runs work while this process holds the Lease. Losing it ends the
// process's work for good, as nobody could vouch for its caches any more.
func (m *manager) lead(ctx context.Context, work func(context.Context) error) error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	identity := host + "_" + string(uuid.NewUUID())
	leading := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: "kube-controller-manager",
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kube-controller-manager"},
			Client:     m.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(leading) },
			OnStoppedLeading: func() {},
			OnNewLeader: func(leader string) {
				if leader != identity {
					m.cfg.Logger.Info("Waiting for the lead", "leader", leader)
				}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	return m.elect(ctx, elector, leading, work)
}

// elect campaigns beside the work, and returns after both have ended.
func (m *manager) elect(ctx context.Context, elector *leaderelection.LeaderElector, leading <-chan struct{}, work func(context.Context) error) error {
	// The Lease is held until the work has ended, hence not by ctx itself.
	campaign, concede := context.WithCancel(context.WithoutCancel(ctx))
	term, endTerm := context.WithCancel(ctx)
	var campaigning sync.WaitGroup
	defer campaigning.Wait()
	defer concede()
	campaigning.Go(func() {
		defer endTerm()
		elector.Run(campaign)
	})
	select {
	case <-leading:
	case <-ctx.Done():
		return nil
	}
	if err := work(term); err != nil {
		return err
	}
	if ctx.Err() == nil {
		return errLeadLost
	}
	return nil
}
