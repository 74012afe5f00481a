package scheduler

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"

	"github.com/kubesim/kubesim/scheduler/extender"
	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/plugins"
	"github.com/kubesim/kubesim/scheduler/profile"
	"github.com/kubesim/kubesim/scheduler/queue"
)

// profileOf is a profile with what of it is not up to plugins.
type profileOf struct {
	*profile.Profile
	percentage int                             // of nodes to score; 0 for what suits the cluster's size
	preemption *configv1.DefaultPreemptionArgs // nil for none
}

func newProfiles(config Config, handle framework.Handle) (map[string]*profileOf, error) {
	profiles := map[string]*profileOf{}
	for i := range config.Configuration.Profiles {
		p := &config.Configuration.Profiles[i]
		name := ptr.Deref(p.SchedulerName, v1.DefaultSchedulerName)
		set, err := plugins.For(handle, p, extender.IgnoredResources(config.Configuration.Extenders)...)
		if err != nil {
			return nil, fmt.Errorf("profile %s: %w", name, err)
		}
		profiles[name] = &profileOf{
			Profile: profile.New(name, set.Rows), preemption: set.Preemption,
			percentage: int(ptr.Deref(p.PercentageOfNodesToScore, 0)),
		}
	}
	return profiles, nil
}

// profileFor returns the profile that a pod asks for, nil if it is not one of ours.
func (s *scheduler) profileFor(pod *v1.Pod) *profileOf { return s.profiles[pod.Spec.SchedulerName] }

// queueConfig lets one queue serve all profiles.
func queueConfig(config Config, profiles map[string]*profileOf) queue.Config {
	hints := map[string][]framework.Hint{}
	for _, p := range profiles {
		for plugin, on := range p.Hints() {
			hints[plugin] = on // the same in all profiles
		}
	}
	hints[extender.Name] = []framework.Hint{{On: framework.AnyEvent}}
	return queue.Config{
		Clock: config.Clock, Hints: hints,
		InitialBackoff: time.Duration(ptr.Deref(config.Configuration.PodInitialBackoffSeconds, 1)) * time.Second,
		MaxBackoff:     time.Duration(ptr.Deref(config.Configuration.PodMaxBackoffSeconds, 10)) * time.Second,
		PreEnqueue: func(pod *v1.Pod) *framework.Status {
			return profiles[pod.Spec.SchedulerName].PreEnqueue(pod)
		},
	}
}

// limit sets how fast the client may be. The server is next door, so there is
// no limit unless one is asked for.
func limit(config *rest.Config, qps float32, burst int32) {
	switch {
	case qps > 0:
		config.QPS, config.Burst = qps, max(int(burst), int(qps))
	case config.QPS == 0:
		config.QPS = -1
	}
}

// cancels end what is under way for a pod when the pod goes.
type cancels struct {
	mu    sync.Mutex
	byPod map[types.UID]context.CancelFunc
}

func newCancels() *cancels { return &cancels{byPod: map[types.UID]context.CancelFunc{}} }

// add returns a context that ends with the pod; done forgets it.
func (c *cancels) add(ctx context.Context, uid types.UID) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byPod[uid] = cancel
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.byPod, uid)
		cancel()
	}
}

func (c *cancels) cancel(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel, ok := c.byPod[uid]; ok {
		cancel()
	}
}
