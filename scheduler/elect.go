package scheduler

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// kube-scheduler's default times.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// elect runs lead while this process holds the Lease kube-system/kube-scheduler.
// It returns when ctx is done or lead has ended; losing the Lease is an error.
func elect(ctx context.Context, config Config, client kubernetes.Interface, lead func(context.Context) error) error {
	identity := config.Identity
	if identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("scheduler: naming a candidate: %w", err)
		}
		identity = host + "_" + string(uuid.NewUUID())
	}
	leading := make(chan context.Context, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kube-scheduler"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { leading <- ctx },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("scheduler: leader election: %w", err)
	}

	electing, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		elector.Run(electing)
	}()
	select {
	case <-ended:
	case term := <-leading: // done when the Lease is lost
		err = lead(term)
	}
	stop()
	<-ended
	if err == nil && ctx.Err() == nil {
		return errors.New("scheduler: lost the Lease kube-system/kube-scheduler")
	}
	return err
}
